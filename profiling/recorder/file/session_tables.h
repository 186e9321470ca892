// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng::recorder {

class Database;

/// Write the tables that describe the session. Their values come from the manifest (SPNG_RUN) of the same
/// file. Tables of the nsys schema: ANALYSIS_DETAILS, PROCESSES, TARGET_INFO_SYSTEM_ENV,
/// TARGET_INFO_SESSION_START_TIME, META_DATA_* and ENUM_*. SPNG_DIAG is our short form of DIAGNOSTIC_EVENT.
/// @throws DatabaseError if the file cannot be written
void write_session_tables(Database& database);

} // namespace spng::recorder
