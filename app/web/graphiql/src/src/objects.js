import { graphqlURL } from './endpoints.js';
import document from './objects.graphql?raw';

const TIMEOUT_MS = 3_000;

/** What the database must have for each variable of the examples. */
export const NEEDS = {
  account: 'account with transactions',
  token: 'fungible token with holders',
  collection: 'NFT',
  topic: 'topic with messages',
  contract: 'contract',
  block: 'block',
  call: 'fungible token with holders',
  text: 'account with transactions',
  from: 'status page',
};

/** Returns the values of the variables of the examples. Variables whose object does not exist are missing. */
function valuesOf({ transfers, tokens, nfts, messages, logs, contracts, blocks, newest, status }) {
  const nodes = (connection) => connection?.nodes ?? [];
  // An account and a token of the same transfer, so that the account has a history of this token.
  const transfer = nodes(transfers).flatMap(({ tokenTransfers }) => tokenTransfers)[0];
  const held = nodes(tokens).find(({ balances }) => nodes(balances).length > 0);
  const account = transfer?.accountId ?? held?.balances.nodes[0].accountId ?? nodes(newest)[0]?.payerAccountId;
  const token = transfer?.tokenId ?? held?.entityId;
  const values = {
    account,
    token,
    collection: (nodes(nfts).find(({ deleted }) => !deleted) ?? nodes(nfts)[0])?.tokenId,
    topic: nodes(messages)[0]?.entityId,
    contract: nodes(logs).find((log) => log.contract)?.contract.entityId ?? nodes(contracts)[0]?.entityId,
    block: nodes(blocks)[0]?.number,
    // Tokens have the interface of ERC-20 contracts: the data is totalSupply().
    call: token && { to: `0x${Number(token.split('.').at(-1)).toString(16).padStart(40, '0')}`, data: '0x18160ddd' },
    text: account,
    from: status && String(Math.max(status.revision - 5, 0)),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));
}

/**
 * Requests objects of the connected database for the examples.
 * @returns {Promise<Record<string, unknown> | null>} The values of the variables by name, or null if the gateway did not return them.
 */
export async function findObjects() {
  try {
    const response = await fetch(graphqlURL, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ query: document, operationName: 'ExampleObjects' }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { data } = await response.json();
    return data ? valuesOf(data) : null;
  } catch {
    return null;
  }
}
