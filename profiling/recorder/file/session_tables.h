#pragma once

namespace spng::recorder {

class Database;

/// Tables of nsys's schema that follow from the manifest (SPNG_RUN) of the same file: ANALYSIS_DETAILS,
/// PROCESSES, TARGET_INFO_SYSTEM_ENV, TARGET_INFO_SESSION_START_TIME, META_DATA_*, and the enumerations
/// ENUM_*; and SPNG_DIAG, our short form of DIAGNOSTIC_EVENT. Throws DatabaseError.
void write_session_tables(Database& database);

} // namespace spng::recorder
