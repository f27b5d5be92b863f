// SPDX-License-Identifier: AGPL-3.0-only

package marc

import "math/rand/v2"

// Words of records, with enough scripts and diacritics to expose readers that confuse
// characters with bytes.
var (
	nouns = []string{
		"archive", "atlas", "bridge", "catalogue", "chemistry", "climate", "commerce", "cuisine", "dialogue", "economy",
		"education", "engineering", "estuary", "façade", "fisheries", "forest", "garden", "geometry", "glacier", "harbour",
		"history", "industry", "invention", "journal", "język", "kingdom", "landscape", "language", "logic", "mathématiques",
		"medicine", "migration", "music", "naïveté", "navigation", "orchard", "papermaking", "philosophy", "poetry", "portrait",
		"railway", "reformation", "république", "river", "science", "sculpture", "statistics", "theatre", "théorie", "travel",
		"university", "valley", "volcano", "Übersetzung", "weather", "weaving", "workshop", "библиотека", "図書館", "zoology",
	}
	surnames = []string{
		"Adams", "Bērziņš", "Castañeda", "Dvořák", "Eriksson", "Fernández", "García", "Hansen", "Ito", "Jørgensen",
		"Kowalski", "Łukasiewicz", "Müller", "Nguyễn", "O'Brien", "Pérez", "Quist", "Rousseau", "Şahin", "Толстой",
		"Ueda", "Võ", "Weiß", "Xu", "Yılmaz", "Žižka", "田中",
	}
	forenames = []string{
		"Anaïs", "Björn", "Chloë", "Dagmar", "Étienne", "Fatima", "Grace", "Håkon", "Inês", "José", "Karin", "Lucía",
		"Małgorzata", "Noël", "Olga", "Paul", "Renée", "Søren", "Tomáš", "Ursula", "Vera", "William", "Zoë",
	}
	cities = []city{
		{"Boston", "mau"},
		{"Göttingen", "gw "},
		{"København", "dk "},
		{"Kraków", "pl "},
		{"London", "enk"},
		{"Málaga", "sp "},
		{"Montréal", "quc"},
		{"東京", "ja "},
		{"Zürich", "sz "},
	}
	languages   = []string{"eng", "fre", "ger", "pol", "spa"}
	occupations = []string{"Architects", "Composers", "Historians", "Librarians", "Naturalists", "Novelists", "Painters", "Translators"}
)

// city is a name, and MARC's code of the country.
type city struct{ name, country string }

// words chooses words.
type words struct{ random *rand.Rand }

func (w words) pick(list []string) string { return list[w.random.IntN(len(list))] }

func (w words) noun() string     { return w.pick(nouns) }
func (w words) surname() string  { return w.pick(surnames) }
func (w words) forename() string { return w.pick(forenames) }
func (w words) city() city       { return cities[w.random.IntN(len(cities))] }
func (w words) year() int        { return 1900 + w.random.IntN(125) }
func (w words) upTo(n int) int   { return w.random.IntN(n) }
