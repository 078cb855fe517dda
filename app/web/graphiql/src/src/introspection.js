import { graphqlURL } from './endpoints.js';

const INTRODUCTION = `**Heliograph** serves the data of a Hedera or Hiero network from its mirror node database: accounts, tokens, NFTs, topics, contracts, transactions and blocks, and the status page of the network.

- **Try it:** open *Examples* in the toolbar. Their variables name objects of this database. Run a document with Ctrl+Enter.
- **Find objects:** \`search\` accepts IDs, addresses, hashes, keys and token names. Entity IDs are texts such as \`0.0.1001\`.
- **Units:** hbar amounts are in tinybars (10⁻⁸ ℏ), token amounts in the token's smallest unit. 64-bit integers are texts. Timestamps are seconds and nanoseconds since 1970, such as \`1700000000.000000001\`.
- **Lists** are Relay connections: pass \`pageInfo.endCursor\` as \`after\` to get the next page.
- **Cost:** each response reports the cost of its query and the limit. Smaller pages cost less.
- **From REST:** *Open a REST call* in the toolbar converts a REST path or a curl command to its document.

Start at \`Query\` below, or search for a type or a field.`;

/** Federation's fields and types, such as _entities, are for routers. */
const forRouters = ({ name }) => /^_(?!_)/.test(name);

/** Removes what only federation routers use, and adds an introduction. */
function forReaders(result) {
  const schema = result?.data?.__schema;
  if (schema) {
    schema.description ??= INTRODUCTION;
    schema.types = schema.types.filter((type) => !forRouters(type));
    const query = schema.types.find(({ name }) => name === schema.queryType.name);
    query.fields = query.fields.filter((field) => !forRouters(field));
  }
  return result;
}

/** Requests the schema as the explorer, the documentation and the editor show it. */
export async function introspect(parameters, { headers } = {}) {
  const response = await fetch(graphqlURL, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(parameters),
  });
  return forReaders(await response.json());
}
