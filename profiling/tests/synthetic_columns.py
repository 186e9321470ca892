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
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_DEVICE} bytes copyKind srcKind dstKind graphNodeId virtualAddress",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_DEVICE} value bytes graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{_DEVICE} syncType eventId",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{_DEVICE} graphId graphExecId",
    "CUDA_GRAPH_NODE_EVENTS": "start end nameId globalTid graphNodeId originalGraphNodeId spngCall",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start globalPid deviceId contextId virtualAddress bytes memKind memoryOperationType "
    "name correlationId streamId",
    "OSRT_API": "start end eventClass globalTid nameId returnValue nestingLevel callchainId",
    "CUBLAS_EVENTS": "start end eventClass globalTid nameId",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "start globalPid address CpuInstruction",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start end globalPid deviceId address numberOfPageFaults",
    "OPENMP_EVENT_KIND_PARALLEL": "start end eventClass globalTid correlationId nameId",
    "OPENMP_EVENT_KIND_WAIT": "start end eventClass globalTid correlationId nameId",
    "CUPTI_ACTIVITY_KIND_OPENACC_DATA": "start end nameId eventClass globalTid eventKind lineNo srcFile",
    "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH": "start end nameId eventClass globalTid eventKind lineNo srcFile",
    "MPI_RANKS": "globalTid rank",
    "MPI_P2P_EVENTS": "start end globalTid textId commHandle tag remoteRank size requestHandle",
    "MPI_COLLECTIVES_EVENTS": "start end globalTid textId commHandle rootRank size recvSize requestHandle",
    "MPI_START_WAIT_EVENTS": "start end globalTid textId requestHandle",
    "MPI_OTHER_EVENTS": "start end globalTid textId",
    "NVVIDEO_ENCODER_API": "start end eventClass globalTid correlationId nameId",
    "NVVIDEO_DECODER_API": "start end eventClass globalTid correlationId nameId",
    "VULKAN_API": "start end eventClass globalTid correlationId nameId contextId",
    "VULKAN_DEBUG_API": "start end eventClass globalTid correlationId nameId contextId textId",
    "VULKAN_WORKLOAD": "start end globalTid gpu textId",
    "D3D11_PIX_DEBUG_API": "start end eventClass globalTid correlationId nameId textId",
    "D3D12_PIX_DEBUG_API": "start end eventClass globalTid correlationId nameId textId",
    "DX12_WORKLOAD": "start end globalTid gpu textId",
    "KHR_DEBUG_EVENTS": "eventClass textId globalTid id start end",
    "NET_NIC_METRIC": "start end globalId metricsListId metricsIdx value",
    "NET_IB_SWITCH_METRIC": "start end globalId metricsListId metricsIdx value",
    "NIC_ID_MAP": "nicId globalId",
    "TARGET_INFO_NIC_INFO": "nicId GUID deviceId name",
    "TARGET_INFO_NETWORK_METRICS": "metricsListId metricsIdx name",
    "ENUM_NET_DEVICE_ID": "id name label",
    "WDDM_QUEUE_PACKET_START_EVENTS": "start globalTid gpu context engineType submitSequence",
    "WDDM_QUEUE_PACKET_STOP_EVENTS": "start globalTid gpu context engineType submitSequence",
    "WDDM_DMA_PACKET_START_EVENTS": "start globalTid gpu context engineType uliSubmissionId",
    "WDDM_DMA_PACKET_STOP_EVENTS": "start globalTid gpu context engineType uliCompletionId",
    "TARGET_INFO_WDDM_CONTEXTS": "context nodeOrdinal friendlyName",
    "PROFILER_OVERHEAD": "start end globalTid nameId returnValue",
    "GPU_METRICS": "timestamp typeId metricId value",
    "TARGET_INFO_GPU_METRICS": "typeId metricId metricName",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime",
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
    "friendlyName",
    "utcTime",
}
# Names of this list that are integers in some tables.
NUMBERS = {
    ("CUPTI_ACTIVITY_KIND_MEMSET", "value"),
    ("GPU_METRICS", "value"),
    ("NET_NIC_METRIC", "value"),
    ("NET_IB_SWITCH_METRIC", "value"),
    ("SPNG_SAMPLE", "value"),
    ("DIAGNOSTIC_EVENT", "source"),
}
