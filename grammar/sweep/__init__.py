"""The sweep: thousands of declared types, and what each consumer makes of their documents.

``pool`` builds the types, ``documents`` the texts, ``run`` puts them to every consumer and counts.
"""
