/* All of the public interface. */
#ifndef EDGECAM_EDGECAM_H
#define EDGECAM_EDGECAM_H

#include "edgecam/edge.h"
#include "edgecam/image.h"
#include "edgecam/pipeline.h"
#include "edgecam/stats.h"
#include "edgecam/status.h"
#include "edgecam/style.h"

#endif
