# SPDX-License-Identifier: Apache-2.0
"""Tables of an nsys export, their columns and types, for synthetic profiles."""

from __future__ import annotations

_DEVICE = "start end deviceId contextId greenContextId streamId correlationId globalPid"
_KERNEL = (
    "demangledName shortName mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ "
    "staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted graphNodeId "
    "sharedMemoryLimitConfig graphId"
)
COLUMNS = {
    "StringIds": "id value",
    "NVTX_EVENTS": "start end eventType rangeId category color text globalTid endGlobalTid textId domainId uint64Value "
    "int64Value doubleValue uint32Value int32Value floatValue jsonTextId jsonText binaryData",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end eventClass globalTid correlationId nameId returnValue callchainId",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{_DEVICE} {_KERNEL}",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_DEVICE} bytes copyKind srcKind dstKind graphNodeId",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_DEVICE} value bytes graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{_DEVICE} syncType eventId",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{_DEVICE} graphId graphExecId",
    "CUDA_GRAPH_NODE_EVENTS": "start end nameId globalTid graphNodeId originalGraphNodeId spngCall",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start globalPid deviceId contextId virtualAddress bytes memKind memoryOperationType "
    "name correlationId streamId",
    "OSRT_API": "start end eventClass globalTid nameId returnValue nestingLevel callchainId",
    "CUBLAS_EVENTS": "start end eventClass globalTid nameId",
    "PROFILER_OVERHEAD": "start end globalTid nameId returnValue",
    "GPU_METRICS": "timestamp typeId metricId value",
    "TARGET_INFO_GPU_METRICS": "typeId metricId metricName",
    "TARGET_INFO_GPU": "id name totalMemory memoryBandwidth clockRate smCount uuid computeMajor computeMinor",
    "TARGET_INFO_CUDA_GPU": "deviceId name",
    "ThreadNames": "nameId priority globalTid",
    "PROCESSES": "globalPid pid name",
    "META_DATA_EXPORT": "name value",
    "EXPORT_META_DATA": "name value",
    "ENUM_NSYS_EVENT_TYPE": "id name label",
    "ENUM_CUDA_MEMCPY_OPER": "id name label",
    "ENUM_CUDA_MEM_KIND": "id name label",
    "SPNG_RUN": "key value",
    "SPNG_NODE": "id type name kind parent",
    "SPNG_EDGE": "id tail tailPort head headPort",
    "SPNG_CALL": "id node event seq globalTid start end ok bytes_in bytes_out rss cuda_alloc_peak parent cpu "
    "host_alloc_peak leaf_operations device",
    "SPNG_UNCOUNTED_CALL": "id node",
    "SPNG_CALL_CORRELATION": "correlationId call globalPid",
    "SPNG_EVENT": "event globalPid start end whole",
    "SPNG_MSG": "edge event enq deq",
    "SPNG_SAMPLE": "t source metric value",
    "DIAGNOSTIC_EVENT": "timestamp timestampType source severity text globalPid",
}
# Columns that came with a schema version.
SINCE = {
    (3, 7): {"greenContextId", "jsonTextId", "jsonText"},
    (3, 16): {"graphId", "binaryData"},
}
TEXT = {
    "value",
    "text",
    "name",
    "jsonText",
    "label",
    "key",
    "type",
    "kind",
    "source",
    "metric",
    "uuid",
    "metricName",
}
# Names of this list that are integers in some tables.
NUMBERS = {
    ("CUPTI_ACTIVITY_KIND_MEMSET", "value"),
    ("GPU_METRICS", "value"),
    ("SPNG_SAMPLE", "value"),
    ("DIAGNOSTIC_EVENT", "source"),
}
