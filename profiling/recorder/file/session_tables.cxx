// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/file/session_tables.h"

#include "profiling/recorder/file/database.h"
#include "profiling/recorder/file/identity.h"

#include <string>
#include <string_view>
#include <vector>

namespace spng::recorder {
namespace {

struct EnumValue {
    int id;
    const char* name;
    const char* label;
};

struct Enumeration {
    const char* table;
    std::vector<EnumValue> values;
};

// Values and names of Nsight Systems 2023.4. Only the values that the recorder writes are listed.
const std::vector<Enumeration>& enumerations() {
    static const std::vector<Enumeration> all{
        {"ENUM_NSYS_EVENT_TYPE",
         {{33, "NvtxCategory", "NvtxCategory"},
          {34, "NvtxMark", "NvtxMark"},
          {39, "NvtxThread", "NvtxThread"},
          {59, "NvtxPushPopRange", "NvtxPushPopRange"},
          {60, "NvtxStartEndRange", "NvtxStartEndRange"},
          {75, "NvtxDomainCreate", "NvtxDomainCreate"},
          {76, "NvtxDomainDestroy", "NvtxDomainDestroy"}}},
        {"ENUM_NSYS_EVENT_CLASS",
         {{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
          {1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
          {27, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"}}},
        {"ENUM_CUDA_MEMCPY_OPER",
         {{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
          {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
          {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
          {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
          {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
          {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
          {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
          {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
          {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
          {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
          {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
          {11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
          {12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
          {13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"}}},
        {"ENUM_CUDA_MEM_KIND",
         {{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
          {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
          {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
          {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
          {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
          {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
          {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
          {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"}}},
        {"ENUM_CUDA_DEV_MEM_EVENT_OPER",
         {{0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
          {1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"}}},
        {"ENUM_CUPTI_SYNC_TYPE",
         {{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
          {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
          {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
          {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
          {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"}}},
        {"ENUM_DIAGNOSTIC_SEVERITY_LEVEL",
         {{1, "Information", "Information"}, {2, "Warning", "Warning"}, {3, "Error", "Error"}}},
        {"ENUM_DIAGNOSTIC_SOURCE_TYPE", {{4, "Injection", "Injection"}}},
        {"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", {{1, "ReportRelative", "Relative to the session's start"}}},
    };
    return all;
}

void write_enumerations(Database& database) {
    for (const auto& enumeration : enumerations()) {
        const std::string table = enumeration.table;
        database.run("CREATE TABLE " + table + " (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)");
        Statement insert(database, "INSERT INTO " + table + " VALUES (?, ?, ?)");
        for (const auto& value : enumeration.values) {
            insert.bind(1, std::int64_t{value.id});
            insert.bind(2, std::string(value.name));
            insert.bind(3, std::string(value.label));
            insert.run();
        }
    }
}

/// Return the SQL expression of a key of the manifest.
std::string manifest(const std::string& key) {
    return "(SELECT value FROM SPNG_RUN WHERE key = " + quoted(key) + ")";
}

std::string manifest_integer(const std::string& key) {
    return "COALESCE(CAST(" + manifest(key) + " AS INTEGER), 0)";
}

} // namespace

void write_session_tables(Database& database) {
    const std::string vm = std::to_string(virtual_machine);
    const std::string global_pid = std::to_string(virtual_machine) + " | (" + manifest_integer("process") +
                                   " & " + std::to_string(id_mask) + ") << " + std::to_string(id_bits);
    const std::string utc =
        "strftime('%Y-%m-%dT%H:%M:%S', " + manifest_integer("start_utc_ns") + " / 1000000000, 'unixepoch'";
    database.run("CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration "
                 "INTEGER NOT NULL, startTime INTEGER NOT "
                 "NULL, stopTime INTEGER NOT NULL);"
                 "INSERT INTO ANALYSIS_DETAILS VALUES (" +
                 vm + ", " + manifest_integer("stop_ns") + ", 0, " + manifest_integer("stop_ns") +
                 ");"
                 "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
                 "INSERT INTO PROCESSES VALUES (" +
                 global_pid + ", " + manifest_integer("process") + ", " + manifest("program") +
                 ");"
                 "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, "
                 "utcTime TEXT, localTime TEXT);"
                 "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" +
                 manifest_integer("start_utc_ns") + ", " + utc + "), " + utc +
                 ", 'localtime'));"
                 "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName "
                 "TEXT NOT NULL, name TEXT NOT NULL, "
                 "nameEnum INTEGER NOT NULL, value TEXT NOT NULL);"
                 "CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);"
                 "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', " +
                 manifest("command_line") + "), ('PROCESS_0:WORKING_DIR', " + manifest("working_folder") +
                 "), ('CAPTURE_WHAT', " + manifest("what") +
                 ");"
                 "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
                 "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'SPNG "
                 "recorder'), ('EXPORT_PRODUCT_VERSION', " +
                 manifest("recorder_version") +
                 "), ('EXPORT_SCHEMA_VERSION', '3.7.2'), ('EXPORT_SCHEMA_VERSION_MAJOR', "
                 "'3'), "
                 "('EXPORT_SCHEMA_VERSION_MINOR', '7'), ('EXPORT_SCHEMA_VERSION_MICRO', "
                 "'2');"
                 "CREATE TABLE SPNG_DIAG (t INTEGER, severity TEXT, text TEXT);"
                 "INSERT INTO SPNG_DIAG SELECT timestamp, CASE severity WHEN 1 THEN "
                 "'information' WHEN 2 THEN 'warning' ELSE "
                 "'error' END, text FROM DIAGNOSTIC_EVENT ORDER BY timestamp");
    struct Property {
        const char* name;
        int id;
        const char* key;
    };
    for (const Property& property : {Property{"CpuCores", 1, "cpu_cores"},
                                     {"CpuArchitecture", 3, "cpu_architecture"},
                                     {"CpuDescription", 13, "cpu"},
                                     {"Hostname", 1000, "host"},
                                     {"OsVersion", 1001, "system"}}) {
        database.run("INSERT INTO TARGET_INFO_SYSTEM_ENV SELECT " + vm + ", 'Local', " +
                     quoted(property.name) + ", " + std::to_string(property.id) +
                     ", value FROM SPNG_RUN WHERE key = " + quoted(property.key));
    }
    write_enumerations(database);
}

} // namespace spng::recorder
