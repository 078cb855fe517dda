// Writes a component for each connection and each type with a global ID, with fragments for pagination and refetching. relay-compiler compiles them, and fails
// if the schema violates Relay's specifications.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { buildSchema, isInterfaceType, isNonNullType, isObjectType, getNamedType, isLeafType } from 'graphql'

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'), { assumeValidSDL: true })
const out = 'build/src'
rmSync('build', { recursive: true, force: true })
mkdirSync(out, { recursive: true })

const required = (field) => field.args.filter((a) => isNonNullType(a.type) && a.defaultValue === undefined)
// Unions have no fields.
const leaf = (type) => Object.values(type.getFields?.() ?? {}).find((f) => isLeafType(getNamedType(f.type)) && required(f).length === 0)?.name ?? '__typename'
let connections = 0
let nodes = 0

function write(name, text) {
  writeFileSync(`${out}/${name}.js`, `import { graphql } from 'react-relay'\n\nexport default graphql\`\n${text}\n\`\n`)
}

// selection returns the selection of a connection field for pagination.
function selection(name, field) {
  const row = getNamedType(getNamedType(field.type).getFields().edges.type).getFields().node
  return `${field.name}(${[...required(field).map((a) => `${a.name}: $${a.name}`), 'first: $count', 'after: $cursor'].join(', ')}) @connection(key: "${name}_${field.name}") {
      edges { cursor node { ${leaf(getNamedType(row.type))} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }`
}

for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || type.name.startsWith('_')) continue
  const isNode = type.getInterfaces().some((i) => i.name === 'Node')
  for (const field of Object.values(type.getFields())) {
    const of = getNamedType(field.type)
    if (!isObjectType(of) || !of.name.endsWith('Connection')) continue
    const name = `${type.name}_${field.name}`.replace(/[^A-Za-z]/g, '')
    if (type === schema.getQueryType()) {
      const more = required(field)
      write(`${name}Query`, `query ${name}Query($count: Int!, $cursor: String${more.map((a) => `, $${a.name}: ${a.type}`).join('')}) {\n    ${selection(`${name}Query`, field)}\n  }`)
      connections++
    } else if (isNode) {
      const more = required(field)
      write(`${name}`, `fragment ${name}_row on ${type.name}
  @argumentDefinitions(count: {type: "Int", defaultValue: 10}, cursor: {type: "String"}${more.map((a) => `, ${a.name}: {type: "${a.type}"}`).join('')})
  @refetchable(queryName: "${name}PageQuery") {
    ${selection(`${name}_row`, field)}
  }`)
      connections++
    }
  }
  if (isNode) {
    write(`${type.name}Node`, `fragment ${type.name}Node_row on ${type.name} @refetchable(queryName: "${type.name}NodeRefetchQuery") {\n    id\n    ${leaf(type)}\n  }`)
    nodes++
  }
}
const all = Object.values(schema.getTypeMap()).filter((t) => isObjectType(t) && t.name.endsWith('Connection'))
if (connections < all.length || nodes === 0 || !isInterfaceType(schema.getType('Node'))) {
  console.error(`found ${connections} fields for ${all.length} connections, and ${nodes} types with IDs`)
  process.exit(1)
}
console.log(`wrote components for ${connections} connections and ${nodes} types with IDs`)
