// SPDX-License-Identifier: Apache-2.0
#pragma once
// C interface of the recorder: one table of functions. Program and recorder need not be built together, and
// nothing links to the recorder.
//
//   void* library = dlopen("libSpngRecorder.so", RTLD_NOW);
//   auto get = (SpngRecorderGet)dlsym(library, "spng_recorder");
//   const SpngRecorder* recorder = get(SPNG_RECORDER_VERSION);      // null: other version
//
// All functions are thread-safe. All but start, stop and recover take nanoseconds to a few microseconds and
// do nothing while no session runs. Times are CLOCK_MONOTONIC [ns]. -1 in a signed field means "not
// measured".

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPNG_RECORDER_VERSION 3u

/// All parts of a recording. A recorder that was built without CUPTI lacks cuda.
#define SPNG_RECORDER_PARTS "nvtx,calls,samples,cuda,nvml"

/// Options of a recording. Null and 0 select the default.
typedef struct SpngRecorderOptions {
    /// Final name of the file, with %p for the process, %h for the host, %q{VAR} for an environment variable
    /// and %% for a percent sign.
    const char* file;
    /// Parts to record, separated by commas: words of SPNG_RECORDER_PARTS.
    const char* what;
    /// Parts to leave out of the default, separated by commas. Ignored if `what` is given.
    const char* without;
    /// Limit for rows that wait to be written [bytes]. Rows beyond it are dropped and counted.
    int64_t memory_limit;
    /// Limit of ranges and marks.
    int64_t row_limit;
    /// Interval between writes to the disk [s]. A killed process loses the rows of one interval at most.
    double spill_seconds;
    /// Interval between samples of memory and load [s].
    double sample_seconds;
    /// 1: replace any regular file, and not only a recording.
    int32_t overwrite;
} SpngRecorderOptions;

/// One call of a node.
typedef struct SpngRecorderCall {
    uint64_t id;     ///< result of call_begins
    uint64_t parent; ///< id of the enclosing call, 0 for none
    int64_t node, event;
    int64_t start, end;
    int32_t failed;
    int32_t discarded; ///< 1: the call counts for no event
    int64_t bytes_in, bytes_out;
    int64_t cpu;                    ///< processor time [ns]
    int64_t host_peak, device_peak; ///< maximum growth of tensor memory [bytes]
    int64_t leaf_operations;        ///< count of ATen operations
} SpngRecorderCall;

/// Functions of the recorder. Functions with a `problem` buffer return 0 on success; otherwise they write one
/// line of text into the buffer of `size` bytes.
typedef struct SpngRecorder {
    uint32_t version;

    /// Start a session and create its file at once, so that an unwritable folder is reported before the run.
    int (*start)(const SpngRecorderOptions* options, char* problem, size_t size);
    /// End the session and finalize the file. On failure the .part file is kept.
    int (*stop)(char* problem, size_t size);
    /// End the session and delete its file.
    void (*discard)(void);
    /// Finalize the .part file of a killed process.
    /// @param target  name of the final file; null or empty: the name in the .part file
    /// @param name    receives the name of the final file; may be null
    int (*recover)(const char* part, const char* target, char* name, size_t name_size, char* problem,
                   size_t size);
    /// Return the rank of this process in a parallel job, 0 outside of a job.
    int (*rank)(void);

    /// Return 1 while a session runs, else 0.
    int (*running)(void);
    /// Return the name of the unfinished file while a session runs, else "". Async-signal-safe.
    const char* (*part_file)(void);
    /// Return the name of the final file of the running session, or of the last one. Async-signal-safe.
    const char* (*final_file)(void);
    /// Return how many libraries attached themselves to the recorder through NVTX.
    uint64_t (*attachments)(void);

    /// Close the capture window for all threads. It is open at the start.
    void (*pause)(void);
    /// Open the capture window for all threads.
    void (*resume)(void);
    /// Disable (1) or enable (0) recording of the calling thread. Return the previous state.
    int (*mute)(int muted);

    /// Set a key of the manifest, SPNG_RUN. A later value replaces an earlier one.
    void (*note)(const char* key, const char* value);
    /// Add a diagnostic message.
    /// @param severity  1 information, 2 warning, 3 error
    void (*diagnose)(int severity, const char* text);
    /// Add a node of the graph.
    /// @param parent  id of the node that calls this one, -1 for none
    void (*node)(int64_t id, const char* type, const char* instance, const char* kind, int64_t parent);
    /// Add an edge of the graph.
    void (*edge)(int64_t id, int64_t tail_node, int64_t tail_port, int64_t head_node, int64_t head_port);
    /// Begin a node call on this thread. Return its id for call_ends, 0 if the call is not recorded.
    uint64_t (*call_begins)(void);
    /// End a node call on this thread.
    void (*call_ends)(const SpngRecorderCall* call);
    /// Add the device time of a call. It may become available after the end of the call.
    void (*device_time)(uint64_t call, int64_t nanoseconds);
    /// Add the passage of a tensor set through an edge.
    void (*message)(int64_t edge, int64_t event, int64_t enqueued, int64_t dequeued);
    /// Add an event that ended.
    /// @param whole  0: the capture window opened or closed during the event, or the event failed
    void (*event)(int64_t event, int64_t start, int64_t end, int whole);
    /// Add a sample of a metric.
    void (*sample)(int64_t time, const char* source, const char* metric, double value);
} SpngRecorder;

typedef const SpngRecorder* (*SpngRecorderGet)(uint32_t version);

#ifdef __cplusplus
}
#endif
