#include "pipeline/style.h"

#include <stddef.h>

static const struct {
    const char *name, *text;
    bool video, line, paper;
    uint32_t line_rgb, paper_rgb;
} styles[EC_STYLE_COUNT] = {
    [EC_STYLE_MASK] = {"mask", "the result itself, bright edges on black", false, false, false, 0, 0},
    [EC_STYLE_INK] = {"ink", "a drawing: lines on paper", false, true, true, 0x000000, 0xFFFFFF},
    [EC_STYLE_OVERLAY] = {"overlay", "the video, its edges drawn over it", true, true, false, 0x00FF00, 0},
    [EC_STYLE_GLOW] = {"glow", "the video darkened, its edges shining", true, true, false, 0x40C0FF, 0},
    [EC_STYLE_DIRECTION] = {"direction", "edges coloured by their direction", true, false, false, 0, 0},
    [EC_STYLE_ALPHA] = {"alpha", "lines on nothing, to be laid over another video", false, true, false, 0xFFFFFF, 0},
    [EC_STYLE_SPLIT] = {"split", "the video on the left, its edges on the right", true, true, true, 0xFFFFFF, 0x000000},
};

const char *ec_style_name(enum ec_style style)
{
    return (unsigned)style < EC_STYLE_COUNT ? styles[style].name : NULL;
}

const char *ec_style_text(enum ec_style style)
{
    return (unsigned)style < EC_STYLE_COUNT ? styles[style].text : NULL;
}

bool ec_style_needs_video(enum ec_style style)
{
    return styles[style].video;
}

bool ec_style_shows_video(enum ec_style style)
{
    return styles[style].video && style != EC_STYLE_DIRECTION;
}

bool ec_style_is_coloured(enum ec_style style)
{
    return style != EC_STYLE_MASK;
}

bool ec_style_has_alpha(enum ec_style style)
{
    return style == EC_STYLE_ALPHA;
}

uint32_t ec_style_line(const struct ec_style_params *params)
{
    return params->has_line ? params->line_rgb : styles[params->style].line_rgb;
}

uint32_t ec_style_paper(const struct ec_style_params *params)
{
    return params->has_paper ? params->paper_rgb : styles[params->style].paper_rgb;
}

enum ec_status ec_style_check(const struct ec_style_params *p, struct ec_error *error)
{
    if ((unsigned)p->style >= EC_STYLE_COUNT)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the style must be 0 to %d, got %d", EC_STYLE_COUNT - 1, (int)p->style);
    if (p->has_line && !styles[p->style].line)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the style %s has no line colour", styles[p->style].name);
    if (p->has_paper && !styles[p->style].paper)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the style %s has no paper colour", styles[p->style].name);
    return EC_OK;
}
