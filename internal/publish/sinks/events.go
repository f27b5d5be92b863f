// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"fmt"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"perflab.dev/perflab/internal/publish/announcement"
)

// events is a receiver of CloudEvents 1.0 over HTTP, in the structured mode: the whole
// event is in the body, which logs and queues on the way preserve.
type events struct{ *caller }

// Wants reports true for all announcements.
func (*events) Wants(announcement.Announcement) bool { return true }

// Send sends the announcement as an event, whose id allows receivers to deduplicate.
func (e *events) Send(ctx context.Context, message announcement.Announcement) error {
	made := event.New(event.CloudEventsVersionV1)
	made.SetID(message.ID)
	made.SetType(message.Type)
	made.SetSource(message.Source)
	made.SetSubject(message.Subject)
	made.SetTime(message.Time)
	if err := made.SetData(event.ApplicationJSON, message.Data); err != nil {
		return fmt.Errorf("writing the event: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, callTime)
	defer stop()
	request, err := cehttp.NewHTTPRequestFromEvent(binding.WithForceStructured(ctx), e.target.String(), made)
	if err != nil {
		return fmt.Errorf("writing the event: %w", err)
	}
	_, err = e.call(request)
	return err
}
