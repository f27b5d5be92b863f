// SPDX-License-Identifier: AGPL-3.0-only

package marc

// changed is the time of every record's last change (field 005), fixed so that files are
// reproducible.
const changed = "20260102030405.0"

// bibliographic writes a printed book with the fields of a library's catalog, about 1,500
// bytes.
func (f *File) bibliographic(n int) {
	key := "pl" + f.key(n)
	f.identity(key)
	f.description(n)
	f.notes()
	f.subjects()
	f.relations(n)
}

func (f *File) identity(key string) {
	r, w := &f.record, f.words
	r.control("001", key)
	r.control("003", "PerfLab")
	r.control("005", changed)
	r.begin("008", "")
	r.text("260102s")
	r.number(w.year())
	r.text("    ", w.city().country, "           000 0 ", w.pick(languages), " d")
	r.end()
	r.field("010", "  ", "a", "   "+key)
	r.field("035", "  ", "a", "(PerfLab)"+key)
	r.field("040", "  ", "a", "PerfLab", "b", "eng", "e", "rda", "c", "PerfLab")
	r.field("043", "  ", "a", "e------")
}

func (f *File) description(n int) {
	r, w := &f.record, f.words
	surname, forename := w.surname(), w.forename()
	r.begin("050", " 4")
	r.subfield("a", "QA")
	r.number(w.upTo(9999))
	r.subfield("b", ".P")
	r.number(n)
	r.end()
	r.begin("100", "1 ")
	r.subfield("a", surname, ", ", forename, ",")
	r.subfield("d")
	r.number(w.year())
	r.text("-")
	r.subfield("e", "author.")
	r.end()
	r.begin("245", "10")
	f.phrase("a", 3)
	r.text(" ")
	r.number(n)
	r.text(" :")
	f.phrase("b", 6)
	r.text(" /")
	r.subfield("c", surname, ", ", forename, ".")
	r.end()
	r.begin("246", "3 ")
	f.phrase("a", 4)
	r.end()
	r.begin("264", " 1")
	r.subfield("a", w.city().name, " :")
	r.subfield("b", w.surname(), " & ", w.surname(), ",")
	r.subfield("c")
	r.number(w.year())
	r.text(".")
	r.end()
	r.begin("300", "  ")
	r.subfield("a")
	r.number(40 + w.upTo(900))
	r.text(" pages :")
	r.subfield("b", "illustrations, maps ;")
	r.subfield("c", "24 cm")
	r.end()
	r.field("336", "  ", "a", "text", "b", "txt", "2", "rdacontent")
	r.field("337", "  ", "a", "unmediated", "b", "n", "2", "rdamedia")
	r.field("338", "  ", "a", "volume", "b", "nc", "2", "rdacarrier")
	f.series("490", "1 ")
}

func (f *File) series(tag, indicators string) {
	f.record.begin(tag, indicators)
	f.phrase("a", 3)
	f.record.text(" ;")
	f.record.subfield("v")
	f.record.number(1 + f.words.upTo(99))
	f.record.end()
}

func (f *File) notes() {
	f.sentence("500", 12)
	f.record.field("504", "  ", "a", "Includes bibliographical references and index.")
	f.sentence("520", 10+f.words.upTo(14))
}

func (f *File) subjects() {
	r, w := &f.record, f.words
	for range 3 {
		r.field("650", " 0", "a", w.noun(), "x", w.noun(), "v", "Periodicals.")
	}
	r.field("651", " 0", "a", w.city().name, "x", "History.")
	r.field("655", " 7", "a", "Nonfiction.", "2", "lcgft")
}

func (f *File) relations(n int) {
	r, w := &f.record, f.words
	r.begin("700", "1 ")
	r.subfield("a", w.surname(), ", ", w.forename(), ",")
	r.subfield("e", "editor.")
	r.end()
	r.begin("710", "2 ")
	r.subfield("a", w.city().name, " University Press.")
	r.end()
	f.series("830", " 0")
	r.begin("856", "40")
	r.subfield("u", "https://library.example/")
	r.number(n)
	r.subfield("z", "Full text")
	r.end()
}

// phrase writes a subfield of this many words, the first capitalized.
func (f *File) phrase(code string, count int) {
	f.record.subfield(code, "The")
	for range count {
		f.record.text(" ", f.words.noun())
	}
}

// sentence writes a field with a note.
func (f *File) sentence(tag string, count int) {
	f.record.begin(tag, "  ")
	f.phrase("a", count)
	f.record.text(".")
	f.record.end()
}
