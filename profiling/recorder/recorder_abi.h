#pragma once
// The recorder as a program sees it: one table of C functions, so that program and recorder need not be built
// together and nothing links to the recorder.
//
//   void* library = dlopen("libSpngRecorder.so", RTLD_NOW);
//   auto get = (SpngRecorderGet)dlsym(library, "spng_recorder");
//   const SpngRecorder* recorder = get(SPNG_RECORDER_VERSION);      // null: another version
//
// All functions may be called from any thread; all but start, stop and recover cost nanoseconds to a few
// microseconds and do nothing while no session runs. Times are CLOCK_MONOTONIC in nanoseconds. -1 in a signed
// field stands for "not measured".

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPNG_RECORDER_VERSION 1u

/// Null and 0 stand for the default.
typedef struct SpngRecorderOptions {
    const char* file;    ///< final name; %p process, %h host, %q{VAR} environment, %% a percent sign
    const char* what;    ///< parts, separated by commas: nvtx, memory, samples, cuda, ... ; null: the default
    const char* without; ///< parts that are left out of the default
    int64_t memory_limit; ///< bytes of rows that wait to be written; what comes beyond is dropped and counted
    int64_t row_limit;    ///< ranges and marks to record at most
    double spill_seconds; ///< how often rows go to the disk: what a killed process loses at most
    double sample_seconds; ///< how often memory is looked at
} SpngRecorderOptions;

typedef struct SpngRecorderCall {
    uint64_t id;     ///< of call_begins
    uint64_t parent; ///< the call that this one is nested in; 0: none
    int64_t node, event;
    int64_t start, end;
    int32_t failed;
    int32_t discarded; ///< nothing happened that is worth a row
    int64_t bytes_in, bytes_out;
    int64_t cpu;
    int64_t host_peak, device_peak; ///< growth of tensor memory
    int64_t leaf_operations;
} SpngRecorderCall;

typedef struct SpngRecorder {
    uint32_t version;

    /// 0, or not 0 and one readable line in `problem`. Makes the file at once, so that a folder that cannot
    /// be written is found before the run.
    int (*start)(const SpngRecorderOptions* options, char* problem, size_t size);
    /// Complete the file. 0, or not 0 and the reason; what was recorded until then stays as a .part file.
    int (*stop)(char* problem, size_t size);
    /// Give up the session: no file stays.
    void (*discard)(void);
    /// Make a complete file out of what a killed process left. `target` null or empty: the name it was meant
    /// to have. The name goes to `name`.
    int (*recover)(const char* part, const char* target, char* name, size_t name_size, char* problem,
                   size_t size);
    /// The number of this process in a parallel job, 0 outside of one.
    int (*rank)(void);

    int (*running)(void);
    /// Name of the unfinished file while a session runs, else "". Async-signal-safe.
    const char* (*part_file)(void);
    /// The name under which the file appears.
    const char* (*final_file)(void);
    /// How often a library attached itself to the recorder through NVTX.
    uint64_t (*attachments)(void);

    /// Close and open the window for all threads; open at the start.
    void (*pause)(void);
    void (*resume)(void);
    /// Leave out what the calling thread does from now on (1) or not (0). Returns what was set before.
    int (*mute)(int muted);

    /// A key of the manifest, SPNG_RUN. The last value counts.
    void (*note)(const char* key, const char* value);
    /// severity: 1 information, 2 warning, 3 error
    void (*diagnose)(int severity, const char* text);
    void (*node)(int64_t id, const char* type, const char* instance, const char* kind, int64_t parent);
    void (*edge)(int64_t id, int64_t tail_node, int64_t tail_port, int64_t head_node, int64_t head_port);
    /// The id under which call_ends reports; 0 when it is not recorded.
    uint64_t (*call_begins)(void);
    void (*call_ends)(const SpngRecorderCall* call);
    /// The time of a call on the device, which is known later than its end.
    void (*device_time)(uint64_t call, int64_t nanoseconds);
    void (*message)(int64_t edge, int64_t event, int64_t enqueued, int64_t dequeued);
    void (*sample)(int64_t time, const char* source, const char* metric, double value);
} SpngRecorder;

typedef const SpngRecorder* (*SpngRecorderGet)(uint32_t version);

#ifdef __cplusplus
}
#endif
