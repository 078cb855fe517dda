package v1

import (
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// finalScheduleAge is the max-age, in seconds, of responses about schedules that no longer change.
const finalScheduleAge = 3600

func scheduleEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/schedules", Validation: grammarV2, Params: schedulesParams, Document: "schedules.graphql",
			Paging: rest.Paging{Next: []rest.Cursor{rest.EntityIDCursor("schedule.id")}}, Shape: rest.Shape{OmitNull: [][]string{{"deleted", "memo"}}}, MaxAge: 10,
		},
		{
			Path: "/schedules/{scheduleId}", Validation: grammarV1, Document: "schedule.graphql",
			BindPath: bindSchedule, MaxAge: finalScheduleAge, Shape: rest.Shape{MaxAgeVolatile: shortAge},
		},
	}
}

var schedulesParams = []rest.Param{
	{Name: "account.id", Kind: rest.EntityID, Bind: rest.AllIDs("filter.creatorAccountId"), Doc: "Filters by creator account."},
	limit, order,
	{Name: "schedule.id", Kind: rest.EntityID, Bind: rest.AllIDs("filter.id"), Doc: "Filters by schedule ID."},
}

func bindSchedule(r *rest.Request) error {
	text := r.Path.Get("scheduleId")
	id, err := ledger.ParseEntityID(text, r.Config.Base)
	if err != nil || !rest.IsEntityID(text) {
		return rest.InvalidParameter("scheduleid")
	}
	r.Set("id", id.String())
	return nil
}
