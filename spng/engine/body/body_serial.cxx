// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/body.h"

namespace spng {

void SerialBody::queue(EventCall& event, bool) {
    for (const Step& step : event.parts().body) {
        event.call(step);
    }
    event.queued();
}

} // namespace spng
