// SPDX-License-Identifier: Apache-2.0
/* options.h: the options of a capture. One list defines the command's options, the library's
 * environment variables and their help: --step-range X of profsql-capture is
 * PROFSQL_CAPTURE_STEP_RANGE=X of libprofsql_capture.so. */
#ifndef PROF_CAPTURE_OPTIONS_H
#define PROF_CAPTURE_OPTIONS_H

#include "../base/base.h"

/* O(id, long name, letter or 0, argument or NULL, variable, help) */
#define CAPTURE_OPTIONS(O)                                                                         \
    O(OPT_LOGDIR, "logdir", 'o', "DIR", "LOGDIR",                                                  \
      "write DIR/plugins/profile/RUN/HOST.xplane.pb (logs)")                                       \
    O(OPT_RUN, "run", 'r', "NAME", "RUN",                                                          \
      "name of the run (of a launch of several processes by Slurm, torchrun, PMIx or Open MPI: "   \
      "the launch's; else the time)")                                                              \
    O(OPT_HOST, "host", 0, "NAME", "HOST", "name of the host in the profile (the machine's)")      \
    O(OPT_KINDS, "kinds", 'k', "LIST", "KINDS",                                                    \
      "what to record, with commas: kernels copies runtime driver driver-all sync overhead "       \
      "memory unified graphs nvtx events external jit environment links; all; default; a - "       \
      "before a word removes it (default: kernels copies runtime driver overhead memory nvtx; "    \
      "sync: waits, as events of their own; graphs: one row for an entire CUDA graph instead of "  \
      "its nodes; environment: clocks, watts and degrees; links: NVLink and PCIe; external: ids "  \
      "of profsql_capture_push_id())")                                                             \
    O(OPT_DELAY, "delay", 'd', "SECONDS", "DELAY",                                                 \
      "start recording this long after the program's first CUDA or NVTX call")                     \
    O(OPT_DURATION, "duration", 't', "SECONDS", "DURATION", "stop recording after this time")      \
    O(OPT_EVERY, "every", 0, "SECONDS", "EVERY",                                                   \
      "record repeatedly, for --duration each time: at multiples of this many seconds on the "     \
      "clock, which all processes of a launch share; each window is a run named after its UTC "    \
      "time")                                                                                      \
    O(OPT_WAIT, "wait", 'w', NULL, "WAIT",                                                         \
      "start only on request: by --send start, --signal or profsql_capture_start()")               \
    O(OPT_PROFILER, "profiler-api", 'p', NULL, "PROFILER_API",                                     \
      "record from the program's cudaProfilerStart() to its cudaProfilerStop()")                   \
    O(OPT_SIGNAL, "signal", 's', "NAME", "SIGNAL",                                                 \
      "let this signal (USR1, USR2, PROF, or a number) start and stop recording")                  \
    O(OPT_STEPS, "step-range", 'n', "NAME", "STEP_RANGE",                                          \
      "NVTX ranges of this name are steps; NAME* : all whose names start with NAME")               \
    O(OPT_FROM_STEP, "from-step", 0, "N", "FROM_STEP",                                             \
      "start recording with step N: --step-range's ranges, counted from 0 as they start")          \
    O(OPT_N_STEPS, "steps", 0, "N", "STEPS",                                                       \
      "stop recording after N steps (from 0 on without --from-step); waits (5 s at most) for the " \
      "work on the GPUs, as --synchronize does, before and after")                                 \
    O(OPT_SYNCHRONIZE, "synchronize", 0, NULL, "SYNCHRONIZE",                                      \
      "when asked to stop, first wait (5 s at most) for the work on the GPUs; not while the "      \
      "program captures a CUDA graph")                                                             \
    O(OPT_SAMPLES, "gpu-samples", 0, "MS", "GPU_SAMPLES",                                          \
      "sample power, clocks, utilization, temperature and used memory of the GPUs in use at this " \
      "interval, through NVML (not sampled)")                                                      \
    O(OPT_SPOOL_LIMIT, "spool-limit", 0, "MIB", "SPOOL_LIMIT",                                     \
      "stop recording when a process's spool reaches this size (8192)")                            \
    O(OPT_BUFFER_KIB, "buffer-size", 0, "KIB", "BUFFER_SIZE", "size of one buffer (4096)")         \
    O(OPT_BUFFERS, "buffers", 0, "N", "BUFFERS",                                                   \
      "use at most the memory of N buffers of that size; small ones are made when it runs short "  \
      "(64)")                                                                                      \
    O(OPT_CUPTI, "cupti", 0, "FILE", "CUPTI",                                                      \
      "the CUPTI library to use (the process's own, else the newest found)")                       \
    O(OPT_KEEP, "keep-spool", 0, NULL, "KEEP_SPOOL",                                               \
      "keep the spool next to the profile, as NAME.kept.spool")                                    \
    O(OPT_QUIET, "quiet", 'q', NULL, "QUIET", "print only errors")                                 \
    O(OPT_LATER, NULL, 0, NULL, "CONVERT_LATER", NULL)                                             \
    O(OPT_TOKEN, NULL, 0, NULL, "TOKEN", NULL)
#define AS_OPTION(id, name, letter, argument, variable, help) id,
enum CaptureOption { CAPTURE_OPTIONS(AS_OPTION) N_CAPTURE_OPTIONS };
#undef AS_OPTION
typedef struct {
    const char *name;
    int letter;
    const char *argument, *variable, *help; /* variable: full name, PROFSQL_CAPTURE_... */
} OptionSpec;
extern const OptionSpec option_specs[N_CAPTURE_OPTIONS];

typedef struct {
    char logdir[3072], run[256], host[256], step_range[256], cupti[1024];
    char token[64]; /* identifies the command that ran the program and will convert its spools */
    unsigned kinds; /* enum CaptureKinds */
    double delay_s, duration_s, every_s; /* every_s 0: once */
    bool by_steps;                       /* --from-step or --steps was given */
    uint64_t first_step, n_steps;        /* n_steps 0: all following ones */
    bool wait, profiler_api, synchronize, keep_spool, quiet;
    bool convert_later; /* the command converts the spool after the program has ended */
    int signal;         /* 0: none */
    int sample_ms;      /* 0: no samples of GPUs */
    uint64_t spool_limit_bytes;
    size_t buffer_bytes;
    int n_buffers;
} CaptureOptions;

/* Sets an option from a text. The error says what is wrong. */
int options_set(CaptureOptions *o, enum CaptureOption option, const char *value, ProfErr *err);
/* Checks that the options are compatible. */
int options_check(const CaptureOptions *o, ProfErr *err);
/* Sets the defaults, then reads the environment. An invalid variable is reported and ignored. */
int options_from_environment(CaptureOptions *o, ProfErr *err);

#endif
