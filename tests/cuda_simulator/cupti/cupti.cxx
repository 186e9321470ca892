// SPDX-License-Identifier: Apache-2.0
// libcupti.so.13: CUPTI over the simulated runtime. It has the functions that the recorder looks up and those
// that LibTorch imports.
//
// Like CUPTI, it gives no record of a device, because these come only when CUDA starts, and a tool that is loaded by
// the program comes later. Records of contexts and streams come with their first operation.

#include "tests/cuda_simulator/cupti/activity.h"
#include "tests/cuda_simulator/cupti/call_ids.h"

#include <cupti.h>

#include <cstring>

using cuda_simulator::Activity;
using cuda_simulator::ActivityBuffers;

namespace {

CUptiResult subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void* data,
                      const char* name) {
    const CUptiResult result = Activity::instance().subscribe(function, data, name);
    if (result == CUPTI_SUCCESS) {
        *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&Activity::instance());
    }
    return result;
}

} // namespace

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    switch (result) {
    case CUPTI_SUCCESS:
        *text = "CUPTI_SUCCESS";
        break;
    case CUPTI_ERROR_NOT_INITIALIZED:
        *text = "CUPTI_ERROR_NOT_INITIALIZED";
        break;
    case CUPTI_ERROR_NOT_SUPPORTED:
        *text = "CUPTI_ERROR_NOT_SUPPORTED";
        break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void* data,
                              CUpti_SubscriberParams* parameters) {
    const CUptiResult result = subscribe(subscriber, function, data, parameters->subscriberName);
    if (result != CUPTI_SUCCESS && parameters->oldSubscriberName != nullptr) {
        std::strncpy(parameters->oldSubscriberName, Activity::instance().subscriber(),
                     parameters->oldSubscriberSize);
    }
    return result;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void* data) {
    return subscribe(subscriber, function, data, nullptr);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
    Activity::instance().unsubscribe();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
    const bool is_simulated =
        domain == CUPTI_CB_DOMAIN_RESOURCE &&
        (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
    if (!is_simulated) {
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    Activity::instance().enable_callback(id, on != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
    *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API  ? cuda_simulator::runtime_call_name(id)
            : domain == CUPTI_CB_DOMAIN_DRIVER_API ? cuda_simulator::driver_call_name(id)
                                                   : nullptr;
    return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
    *time = Activity::instance().now();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
    Activity::instance().use_system_thread_ids(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uint64_t>(node);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize() {
    return CUPTI_ERROR_NOT_SUPPORTED;
}

// ---- activity ----

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
    if (request == nullptr || complete == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    Activity::instance().buffers().set_callbacks(request, complete);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
    return Activity::instance().set_clock(clock);
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    return Activity::instance().enable(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    return Activity::instance().enable(kind, false);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t on) {
    Activity::instance().enable_call(CUPTI_ACTIVITY_KIND_DRIVER, id, on != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t on) {
    Activity::instance().enable_call(CUPTI_ACTIVITY_KIND_RUNTIME, id, on != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) {
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) {
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
    Activity::instance().flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    std::uint8_t* next = buffer;
    if (*record != nullptr) {
        const std::size_t length = ActivityBuffers::length(**record);
        if (length == 0) {
            return CUPTI_ERROR_INVALID_KIND;
        }
        next = reinterpret_cast<std::uint8_t*>(*record) + length;
    }
    if (next >= buffer + valid) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* count) {
    *count = Activity::instance().buffers().take_dropped();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
    return Activity::instance().push_external(kind, id);
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t* id) {
    return Activity::instance().pop_external(kind, id);
}
}
