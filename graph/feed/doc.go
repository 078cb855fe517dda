// Package feed delivers new rows of a database to many listeners. One reader serves all of them, so the database load
// does not depend on their number. A listener can start in the past: it receives existing rows first, then new ones,
// each exactly once and in order.
//
// The reader keeps the newest rows in memory, in a log that all listeners share. There are no queues per listener. A
// listener that falls behind the log receives an error, and its subscription ends.
//
// A [Source] describes how rows are read: the newest position, and the rows after a position. [New] makes a [Feed] of
// it, which reads nothing until somebody listens. [Listen] returns a channel of rows for one [Listener], whose Match
// selects them. A row passes these stages:
//
//   - the reader of the feed (feed.go) reads it once, when Source.Wake says that there is something new or after
//     Options.Interval, and appends it to the log;
//   - each subscription (listen.go) that has caught up takes it from the log; one that started in the past reads
//     pages with Listener.History until it reaches the log;
//   - Listener.Match decides whether the listener receives it, and the value function converts it.
//
// The package knows neither GraphQL nor SQL: resolvers/live has the sources, and graph/server delivers the events.
package feed
