// SPDX-License-Identifier: AGPL-3.0-only

package marc

// holdings writes a minimal holdings record, about 170 bytes. Field 004 is the HRID of its
// instance.
func (f *File) holdings(n int) {
	r := &f.record
	instances := f.order.Instances
	r.control("001", "plh", f.key(n))
	r.control("004", instances[(n-1)/perInstance%len(instances)])
	r.control("008", "2601020u    8   4001uu   0260102")
	r.begin("852", "0 ")
	r.subfield("b", f.order.Location)
	r.subfield("h", "QA")
	r.number(f.words.upTo(9999))
	r.subfield("i", ".P")
	r.number(n)
	r.end()
}

// authority writes an authority record with its variants and sources, about 1,200 bytes. Of ten
// records, one is of a corporate body, one of a topic, one of a place, and the others are of
// persons. Systems reject an existing number in field 010.
func (f *File) authority(n int) {
	r, w := &f.record, f.words
	number := "n  " + f.key(n)
	r.control("001", number)
	r.control("003", "PerfLab")
	r.control("005", changed)
	r.control("008", "260102n| azannaabn          |a aaa      ")
	r.field("010", "  ", "a", number)
	r.field("035", "  ", "a", "(PerfLab)"+number)
	r.field("040", "  ", "a", "PerfLab", "b", "eng", "e", "rda", "c", "PerfLab", "d", "PerfLab")
	r.begin("046", "  ")
	r.subfield("f")
	r.number(w.year())
	r.subfield("2", "edtf")
	r.end()
	variant := f.heading(n)
	r.field("370", "  ", "a", w.city().name, "e", w.city().name, "2", "naf")
	r.field("372", "  ", "a", w.noun(), "a", w.noun(), "a", w.noun(), "2", "lcsh")
	r.field("373", "  ", "a", w.city().name+" University", "2", "naf")
	r.field("374", "  ", "a", w.pick(occupations), "a", w.pick(occupations), "2", "lcsh")
	r.field("377", "  ", "a", w.pick(languages))
	f.variants(variant)
	f.sources()
}

// heading writes field 1XX and returns the field of its variants.
func (f *File) heading(n int) (variant string) {
	r, w := &f.record, f.words
	switch n % 10 {
	case 7:
		r.begin("110", "2 ")
		r.subfield("a", w.city().name, " Institute of ", w.noun(), " ")
		variant = "410"
	case 8:
		r.begin("150", "  ")
		r.subfield("a", w.noun(), " and ", w.noun(), " ")
		variant = "450"
	case 9:
		r.begin("151", "  ")
		r.subfield("a", w.city().name, " ", w.noun(), " ")
		variant = "451"
	default:
		r.begin("100", "1 ")
		r.subfield("a", w.surname(), ", ", w.forename(), " ")
		variant = "400"
	}
	r.number(n)
	r.end()
	return variant
}

func (f *File) variants(tag string) {
	for range 1 + f.words.upTo(8) {
		f.record.begin(tag, "1 ")
		f.record.subfield("a", f.words.surname(), ", ", f.words.forename(), " ", f.words.noun())
		f.record.end()
	}
}

func (f *File) sources() {
	r, w := &f.record, f.words
	for range 2 + w.upTo(3) {
		r.begin("670", "  ")
		f.phrase("a", 5)
		r.text(", ")
		r.number(w.year())
		r.text(":")
		r.subfield("b", "title page (", w.surname(), ", ", w.forename(), "; ", w.pick(occupations), ", ", w.city().name, ")")
		r.end()
	}
	f.sentence("678", 12+w.upTo(10))
}
