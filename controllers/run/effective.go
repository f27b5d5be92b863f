// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/results"
)

// stepEffective reads the configuration back from the running system. A run
// whose system is not the declared one does not count.
func (r *Reconciler) stepEffective(ctx context.Context, s *scope) (outcome, error) {
	effective := &v1alpha1.EffectiveSystem{}
	if s.run.Spec.System.Kafka != nil {
		readable, err := r.effectiveKafka(ctx, s, effective)
		if err != nil {
			return outcome{}, err
		}
		if !readable {
			waiting := s.notReady("Kafka", s.told[v1alpha1.ConditionKafkaReady])
			waiting.after = probePause
			return waiting, nil
		}
	}
	readable, err := r.effectivePostgres(ctx, s, effective)
	if err != nil {
		return outcome{}, err
	}
	if !readable {
		waiting := s.notReady("PostgreSQL's servers", s.told[v1alpha1.ConditionPostgresReady])
		waiting.after = probePause
		return waiting, nil
	}
	readable, err = r.effectiveModules(ctx, s, effective)
	if err != nil {
		return outcome{}, err
	}
	if !readable {
		waiting := s.notReady("the modules' logs", s.told[v1alpha1.ConditionModulesReady])
		waiting.after = probePause
		return waiting, nil
	}
	s.status().Effective = effective
	s.judgeDifferences()
	if s.fault == nil {
		s.mark(&s.status().Timings.Ready)
	}
	return next(), nil
}

// differs notes in what the running system is not the declared one.
func (s *scope) differs(differences ...string) {
	s.differences = append(s.differences, differences...)
}

// judgeDifferences makes one fault of all differences that were found.
func (s *scope) judgeDifferences() {
	if len(s.differences) == 0 || s.fault != nil {
		return
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonEffectiveConfiguration,
		Message: strings.Join(s.differences, "; "),
	}
}
