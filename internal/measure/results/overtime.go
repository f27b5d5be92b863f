// SPDX-License-Identifier: Apache-2.0

package results

import "perflab.dev/perflab/payload"

// Course is a resource of a component over a run, with all instances combined.
type Course struct {
	// Name as in metrics, without a statistic: module/mod-users/cpu.
	Name, Unit string
	Points     payload.Points
}

// Courses returns those of all components, in no order.
func Courses(samples *payload.Samples) []Course {
	var courses []Course
	for _, quantity := range quantities(samples) {
		courses = append(courses, Course{quantity.name, quantity.unit, quantity.points})
	}
	return courses
}
