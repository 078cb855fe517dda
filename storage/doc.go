// Package storage is the kernel of the database access: the connection pool, batches of statements, decoding of rows,
// composition of filters and keyset pages, and classification of errors. The packages below it contain the queries and
// import this package, never the other way round. Nothing here depends on GraphQL or HTTP.
//
// A query of a package below passes these steps:
//
//   - a [Where] collects conditions and their arguments, and a [Page] the part of a list in the order of its key
//     (where.go, window.go);
//   - a [Read] describes the statement: its select list, the page, the tables that are joined to it, and the parents
//     whose rows are read (read.go). It is rendered for PostgreSQL, or for tables that are distributed with Citus;
//   - a [Mapper] queues it on a [Batch] and returns its [Result]. The batch sends all statements of a level of a
//     GraphQL operation in one round trip (batch.go, rows.go, children.go), and decodes the rows (decode.go). The
//     result can then be read;
//   - a [DB] chooses a server, primary or replica, and limits the connections of an operation (db.go, servers.go,
//     pool.go).
//
// storage/statements has the statements of both plans as golden files.
package storage
