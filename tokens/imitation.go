package tokens

import (
	"strings"
	"unicode"
)

// lookalikes maps characters of other scripts, digits and signs to the Latin letter that
// they look like; each row is a letter and its lookalikes. It holds what Unicode's table
// of confusables (UTS #39) has for one letter, where a common font shows no difference at
// a glance.
var lookalikes = lettersOf(
	"aаɑαạāăąàáâãäåΑАᗅᎪꓮᴀᗩ", "bЬƅвВΒᏴßꓐʙᗷ", "cсϲⅽсСϹⅭᏟçćĉċč¢ꓚᴄᑕⲤ", "dԁⅾᏧⅮᎠďđꓓᴅᗪ", "eеҽ℮ЕΕᎬèéêëēĕėęě€єꓰᴇᗴ",
	"fϝҒƒẝ₣ꓝꜰᖴ", "gɡցԌᏀĝğġģꓖɢ", "hһհᏂНΗᎻĥħꓧʜᕼⲎ", "iіⅰıιІΙⅠӀìíîïĩīĭįl1|!ⅼℓꓲɪꓡʟᒪⲒ", "jјϳЈᎫĵꓙᴊᒍ", "kκкКΚᏦKķ₭ꓗᴋᛕⲔ",
	"mⅿмМΜⅯᎷ₥ꓟᴍᗰⲘ", "nոпΝñńņňŉ₦ꓠɴⲚᑎ", "oоοօОΟՕ0òóôõöøōŏőσ٥۵○〇ꓳᴏⲞ", "pрρРΡᏢþ₽₱ꓑᴘᑭⲢ", "qԛգզ", "rгꭇᎡŕŗřᖇꓣʀ",
	"sѕꜱЅՏᏚśŝşš5$ꓢ", "tтτТΤᎢţťŧ₮ꓔᴛⲦ", "uսυμÙÚÛÜùúûüũūŭůűųՍꓴᴜᑌ", "vνѵⅴᏙⅤѴꓦᴠᐯ", "wԝѡᏔԜŵ₩ωꓪᴡᗯ", "xхⅹΧХⅩ×ꓫ᙭Ⲭ", "yуүγΥҮУýÿŷ¥ꓬʏⲨ", "zᴢᏃΖźżžꓜ",
)

func lettersOf(rows ...string) map[rune]rune {
	m := map[rune]rune{}
	for _, row := range rows {
		letters := []rune(row)
		for _, r := range letters[1:] {
			m[r], m[unicode.ToLower(r)] = letters[0], letters[0]
		}
	}
	return m
}

// styled are runs of styled Latin letters, each A to Z and then a to z.
var styled = []struct {
	first, last rune
	period      rune // letters of one run
}{
	{0xFF21, 0xFF3A, 26}, {0xFF41, 0xFF5A, 26}, // full width
	{0x24B6, 0x24E9, 26},                                                   // in circles
	{0x1F130, 0x1F149, 26}, {0x1F150, 0x1F169, 26}, {0x1F170, 0x1F189, 26}, // in squares and black circles
	{0x1D400, 0x1D6A3, 26}, // mathematical
}

// Skeleton returns what a symbol or name looks like at a glance: two texts with the same
// skeleton can be mistaken for each other. It keeps Latin letters, and letters and
// numbers that do not look like one.
func Skeleton(text string) string {
	var b strings.Builder
	for _, r := range text {
		if plain, ok := unstyled(r); ok {
			r = plain
		}
		r = unicode.ToLower(r)
		if l, ok := lookalikes[r]; ok {
			r = l
		}
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unstyled(r rune) (rune, bool) {
	for _, s := range styled {
		if r >= s.first && r <= s.last {
			return 'a' + (r-s.first)%s.period, true
		}
	}
	return 0, false
}
