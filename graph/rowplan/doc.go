// Package rowplan compiles selection sets on Go rows into plans. A plan reads the related rows of all rows level by
// level, with one round trip per level, and then appends the JSON of all rows without a resolver call for each field.
// gqlgen executes the root fields, and plans execute everything below.
//
// A table describes a GraphQL object: an [Object] with one [Field] for each of its fields. [Scalar] and [Get] write
// what the row holds, [Compute] what follows from it and from arguments, and [Read] what a [Relation] reads for all
// rows of a level at once. A [Shape] says how a value becomes JSON: a scalar, an object, a list, an interface.
// [Register] enters the table into the [Tables] of an API. From then on a field that returns such rows passes these
// stages:
//
//   - the resolver of the root field returns rows, and graph/schema.go passes them to [Tables.Apply];
//   - Apply finds the plan of the field, or compiles it (compile.go): the selection is flattened as the specification
//     says, and each field becomes a node with a function that writes and maybe one that loads. The plans of documents
//     that are cached are kept by [Plans];
//   - the plan runs (run.go): the relations of the first level queue their statements into one [Batch], which runs,
//     and their results are the rows of the next level, until no relation is left (relation.go);
//   - the plan writes the JSON of the whole field into one buffer, which is reused after it has been sent.
//
// Three files are about more than one field of one operation: store.go keeps what parts of a response share (@defer),
// stream.go writes an event of a subscription once for all listeners with equal selections, and past.go says which
// fields can be read below an object that stands for a past moment.
//
// A value that cannot be read is null, with an error that has its path. If its field is non-null, the next nullable
// object or list above it is null (§6.4.4 of the GraphQL specification).
//
// Type parameters T and C are types of pointers to rows, not of rows: the compiler generates one instance for all
// pointers, but one for each struct. For the same reason their constraint is any and not comparable. Functions that
// return fields and shapes are not inlined: the compiler would copy their closures into the tables of package graph,
// for each of more than a thousand fields.
package rowplan
