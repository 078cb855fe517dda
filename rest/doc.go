// Package rest serves the two legacy REST APIs by running GraphQL documents in process. It converts requests to
// variables, and the data of a response already is the body. It contains no SQL and no data model. The endpoints are
// declared as tables; see packages v1 and v2.
//
// An [Endpoint] is one row of such a table: its path, its parameters, the document in the folder documents of its API,
// and the form of the response. An [API] serves all of them. A request passes these steps:
//
//   - [API.ServeHTTP] finds the endpoint of the path (api.go);
//   - the query string is split (query.go), and each parameter is validated and bound to variables by the rules of the
//     endpoint's [Family]: classic.go for the older endpoints, modern.go for the newer ones, kind.go and
//     modern_kinds.go for the forms of values;
//   - the document runs in the graph with these variables (serve.go);
//   - the data are the body; links.go appends the link to the next page, and body.go leaves out what REST omits;
//   - an error of the graph becomes a [Problem] with the words of the API (problem.go, [Wording]).
//
// [API.Explain] does the first two steps only, for a reader who wants to know what a path means in GraphQL.
package rest
