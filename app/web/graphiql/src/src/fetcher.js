import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { graphqlURL, socketURL } from './endpoints.js';
import { recorded } from './events.js';
import { introspect } from './introspection.js';
import { measuredFetch } from './measure.js';
import { chosenOperation } from './operation.js';
import { editorReady } from './workers.js';

/** The transports of subscriptions: 'sse' is server-sent events over plain HTTP, 'websocket' is graphql-transport-ws. */
export const TRANSPORTS = [
  { value: 'sse', label: 'SSE' },
  { value: 'websocket', label: 'WebSocket' },
];

const overHTTP = createGraphiQLFetcher({ url: graphqlURL, fetch: measuredFetch });

// Both clients are loaded on first use and created for each subscription, so that no connection is open without one. They
// do not retry, so that the user sees why a subscription ended.

async function overEvents(parameters, options) {
  const { createClient } = await import('graphql-sse');
  const client = createClient({ url: graphqlURL, headers: options.headers ?? {}, retryAttempts: 0 });
  return client.iterate(parameters);
}

async function overSocket(parameters, options) {
  const { createClient } = await import('graphql-ws');
  const wsClient = createClient({ url: socketURL, connectionParams: options.headers ?? {}, retryAttempts: 0 });
  return createGraphiQLFetcher({ url: graphqlURL, wsClient })(parameters, options);
}

/**
 * @param {() => string} transport Returns the transport for a new subscription.
 * @returns {import('@graphiql/toolkit').Fetcher}
 */
export function createFetcher(transport) {
  return async (parameters, options = {}) => {
    if (parameters.operationName === 'IntrospectionQuery') {
      await editorReady;
      return introspect(parameters, options);
    }
    const { isSubscription, operationName } = chosenOperation(parameters);
    const request = { ...parameters, operationName };
    if (!isSubscription) {
      return overHTTP(request, options);
    }
    return recorded(await (transport() === 'websocket' ? overSocket : overEvents)(request, options));
  };
}
