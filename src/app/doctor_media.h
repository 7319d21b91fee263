/* What the FFmpeg libraries at hand can do: parts of --doctor. */
#ifndef EC_APP_DOCTOR_MEDIA_H
#define EC_APP_DOCTOR_MEDIA_H

#include "edge/finding.h"

/* Versions, and the codecs, protocols and accelerators that matter here. */
void doctor_media(const struct ec_examiner *examiner);

/* Whether the GPU's encoder opens. */
void doctor_nvenc(const struct ec_examiner *examiner);

#endif
