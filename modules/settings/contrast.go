package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// rgb is a colour of sRGB.
type rgb struct{ r, g, b uint8 }

// colourOf reads #rrggbb in either case.
func colourOf(text string) (c rgb, ok bool) {
	digits, found := strings.CutPrefix(text, "#")
	n, err := strconv.ParseUint(digits, 16, 24)
	if !found || err != nil || len(digits) != 6 {
		return rgb{}, false
	}
	return rgb{r: uint8(n >> 16), g: uint8(n >> 8 & 0xff), b: uint8(n & 0xff)}, true //nolint:gosec // 24 bits
}

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// mix is the colour that lies a share of the way to another.
func (c rgb) mix(other rgb, share float64) rgb {
	part := func(from, to uint8) uint8 {
		return uint8(math.Round(float64(from) + (float64(to)-float64(from))*share))
	}
	return rgb{part(c.r, other.r), part(c.g, other.g), part(c.b, other.b)}
}

// luminance is the relative luminance of WCAG 2.2.
func (c rgb) luminance() float64 {
	linear := func(part uint8) float64 {
		v := float64(part) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b rgb) float64 {
	light, dark := a.luminance(), b.luminance()
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

// leastContrast is what WCAG 2.2 AA asks of text.
const leastContrast = 4.5

// theme is what accents are compared with. Its colours are those of web/app/src/ui/tokens.css, to which a test holds
// them: grounds are --n1 and --n2, on which texts in the accent stand.
type theme struct {
	name    string
	grounds []rgb
	accent  string // that of Marquee
	over    rgb    // what an accent under the pointer moves to
	soft    float64
}

var (
	light = theme{
		name: "light", grounds: []rgb{{0xff, 0xff, 0xff}, {0xfa, 0xfa, 0xfb}}, accent: "#2b59c3",
		over: rgb{0, 0, 0}, soft: 0.92,
	}
	dark = theme{
		name: "dark", grounds: []rgb{{0x10, 0x11, 0x13}, {0x15, 0x16, 0x18}}, accent: "#8aaefc",
		over: rgb{0xff, 0xff, 0xff}, soft: 0.86,
	}
)

// refuses says what is wrong with an accent in the theme, with its contrast on the worse ground; "" when nothing is.
func (t theme) refuses(text string) string {
	accent, ok := colourOf(text)
	if !ok {
		return "has to be a colour such as " + t.accent
	}
	least := math.Inf(1)
	for _, ground := range t.grounds {
		least = min(least, contrast(accent, ground))
	}
	if least >= leastContrast {
		return ""
	}
	return fmt.Sprintf("has a contrast of %.2f:1 on the background of the %s theme; it has to be at least 4.5:1",
		math.Floor(least*100)/100, t.name)
}

// style are the colours of an accent that is not Marquee's, each for the light and for the dark theme, ahead of the
// front end's own by its selector. Text on the accent is of the ground, with which it has the same contrast.
func style(lightAccent, darkAccent string) string {
	if lightAccent == light.accent && darkAccent == dark.accent {
		return ""
	}
	l, _ := colourOf(lightAccent)
	d, _ := colourOf(darkAccent)
	const share = 0.15
	var out strings.Builder
	out.WriteString(":root:root {\n")
	for _, v := range []struct {
		name        string
		light, dark rgb
	}{
		{"accent", l, d},
		{"accent-over", l.mix(light.over, share), d.mix(dark.over, share)},
		{"on-accent", light.grounds[0], dark.grounds[0]},
		{"accent-soft", l.mix(light.grounds[0], light.soft), d.mix(dark.grounds[0], dark.soft)},
	} {
		fmt.Fprintf(&out, "  --%s: light-dark(%s, %s);\n", v.name, v.light, v.dark)
	}
	out.WriteString("}\n")
	return out.String()
}
