// Build, next to a built llama.cpp (static libraries: -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_TESTS=ON):
//   g++ -std=c++17 -O2 -o gbnf_check gbnf_check.cpp -Illama.cpp/{src,include,ggml/include,vendor}
//     build/src/libllama.a build/ggml/src/libggml.a build/ggml/src/libggml-cpu.a build/ggml/src/libggml-base.a -lpthread -ldl -lm
// gbnf_check: JSON lines {"id","root","grammar","texts"} on stdin ->
// JSON lines {"id","parsed","error","accepted"} on stdout, judged by llama.cpp's own GBNF parser and matcher.
// Each line runs in a forked child, so a crash, abort, timeout or memory blow-up costs that grammar/text only.
// Options: --timeout SECONDS (CPU+wall per child, default 20), --mem MIB (default 4096), --detail (adds "fail_at").
#include "llama-grammar.h"
#include "unicode.h"
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

using json = nlohmann::ordered_json;

static int      g_timeout = 20;
static uint64_t g_mem_mib = 4096;

static void put(int fd, const std::string & s) {
    size_t o = 0;
    while (o < s.size()) {
        ssize_t n = write(fd, s.data() + o, s.size() - o);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(3);
        o += (size_t) n;
    }
}

// child: writes "P\n" (parsed) or "X\n" (refused), then per text "1 -1\n" or "0 <code point index>\n"
static void child(int out, const std::string & grammar, const std::string & root, const std::vector<std::string> & texts, size_t from) {
    rlimit rl { (rlim_t) g_mem_mib << 20, (rlim_t) g_mem_mib << 20 };
    setrlimit(RLIMIT_AS, &rl);
    rlimit core { 0, 0 };
    setrlimit(RLIMIT_CORE, &core);
    alarm(g_timeout);
    llama_grammar * g = llama_grammar_init_impl(nullptr, grammar.c_str(), root.c_str(), false, nullptr, 0, nullptr, 0);
    if (!g) { put(out, "X\n"); fflush(stderr); _exit(0); }
    put(out, "P\n");
    const llama_grammar_stacks initial = llama_grammar_get_stacks(g);
    for (size_t i = from; i < texts.size(); i++) {
        alarm(g_timeout);
        auto & stacks = llama_grammar_get_stacks(g);
        stacks = initial;
        long pos = 0;
        bool alive = true, ok = false;
        for (uint32_t cpt : unicode_cpts_from_utf8(texts[i])) {
            llama_grammar_accept(g, cpt);
            if (stacks.empty()) { alive = false; break; }
            pos++;
        }
        if (alive) {
            for (const auto & s : stacks) { if (s.empty()) { ok = true; break; } }
        }
        put(out, ok ? "1 -1\n" : "0 " + std::to_string(pos) + "\n");
    }
    _exit(0);
}

static std::string read_all(int fd) {
    std::string s; char buf[65536];
    for (;;) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        s.append(buf, (size_t) n);
    }
    return s;
}

// llama.cpp prints "parse: error parsing grammar: MSG\n\nGRAMMAR\n" and then "failed to parse grammar"
static std::string tidy(std::string e, const std::string & grammar) {
    const std::string pre = "parse: error parsing grammar: ";
    size_t p = e.find(pre);
    if (p != std::string::npos) {
        e = e.substr(p + pre.size());
        size_t q = e.rfind("\n\n" + std::string(grammar.c_str()) + "\n");
        if (q != std::string::npos) e.resize(q);
    }
    while (!e.empty() && (e.back() == '\n' || e.back() == ' ')) e.pop_back();
    if (e.size() > 400) { e.resize(400); e += "..."; }
    return e;
}

static std::string why(int st) {
    if (WIFSIGNALED(st)) {
        int s = WTERMSIG(st);
        if (s == SIGALRM) return "timeout after " + std::to_string(g_timeout) + " s";
        return std::string("child died: signal ") + std::to_string(s) + " (" + strsignal(s) + ")";
    }
    return "child exited with status " + std::to_string(WEXITSTATUS(st));
}

int main(int argc, char ** argv) {
    bool detail = false;
    for (int i = 1; i < argc; i++) {
        std::string a = argv[i];
        if (a == "--detail") detail = true;
        else if (a == "--timeout" && i + 1 < argc) g_timeout = atoi(argv[++i]);
        else if (a == "--mem" && i + 1 < argc) g_mem_mib = strtoull(argv[++i], nullptr, 10);
        else { fprintf(stderr, "usage: %s [--timeout S] [--mem MIB] [--detail] < in.jsonl > out.jsonl\n", argv[0]); return 2; }
    }
    setenv("GGML_NO_BACKTRACE", "1", 1);
    std::ios::sync_with_stdio(false);
    std::string line;
    while (std::getline(std::cin, line)) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        json out = { {"id", nullptr}, {"parsed", false}, {"error", ""}, {"accepted", json::array()} };
        try {
            json in = json::parse(line);
            if (in.contains("id")) out["id"] = in["id"];
            const std::string grammar = in.at("grammar").get<std::string>();
            const std::string root    = in.value("root", std::string("root"));
            const auto texts = in.value("texts", std::vector<std::string>());
            std::vector<json> acc(texts.size(), json(false)), fail(texts.size(), json(nullptr));
            std::string error;
            bool parsed = false;
            size_t done = 0;
            do {
                int pfd[2];
                if (pipe(pfd)) throw std::runtime_error("pipe failed");
                int efd = memfd_create("err", 0);
                if (efd < 0) throw std::runtime_error("memfd_create failed");
                pid_t pid = fork();
                if (pid < 0) throw std::runtime_error("fork failed");
                if (pid == 0) {
                    close(pfd[0]);
                    dup2(efd, 2);
                    try { child(pfd[1], grammar, root, texts, done); }
                    catch (const std::exception & e) { fprintf(stderr, "exception: %s\n", e.what()); fflush(stderr); }
                    _exit(4);
                }
                close(pfd[1]);
                const std::string res = read_all(pfd[0]);
                close(pfd[0]);
                int st = 0;
                while (waitpid(pid, &st, 0) < 0 && errno == EINTR) {}
                lseek(efd, 0, SEEK_SET);
                const std::string err = tidy(read_all(efd), grammar);
                close(efd);

                if (res.empty() || res[0] != 'P') {
                    error = res.empty() ? why(st) + (err.empty() ? "" : ": " + err) : err;
                    break;
                }
                parsed = true;
                size_t p = 2;
                while (p < res.size()) {
                    size_t nl = res.find('\n', p);
                    if (nl == std::string::npos) break;
                    acc[done]  = res[p] == '1';
                    fail[done] = atol(res.c_str() + p + 2);
                    done++;
                    p = nl + 1;
                }
                if (done < texts.size()) { // child died on texts[done]: null for it, go on with the next
                    acc[done] = nullptr;
                    error += (error.empty() ? "" : "; ") + ("text " + std::to_string(done) + ": " + why(st)) + (err.empty() ? "" : ": " + err);
                    done++;
                }
            } while (done < texts.size());
            out["parsed"]   = parsed;
            out["error"]    = error;
            out["accepted"] = acc;
            if (detail) out["fail_at"] = fail;
        } catch (const std::exception & e) {
            out["error"] = std::string("bad input line: ") + e.what();
        }
        std::cout << out.dump(-1, ' ', false, json::error_handler_t::replace) << "\n" << std::flush;
    }
    return 0;
}
