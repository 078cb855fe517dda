import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { getOperationAST } from 'graphql';
import { graphqlURL, socketURL } from './endpoints.js';

/** How subscriptions travel: 'sse' is server-sent events over plain HTTP, 'websocket' is graphql-transport-ws. */
export const TRANSPORTS = [
  { value: 'sse', label: 'SSE' },
  { value: 'websocket', label: 'WebSocket' },
];

const overHTTP = createGraphiQLFetcher({ url: graphqlURL });

// Both clients are made for one run and loaded when first needed: nothing is open while no subscription runs. They
// do not retry, because a reader wants to see why a subscription ended.

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
 * @param {() => string} transport Tells the transport for subscriptions at the time one is started.
 * @returns {import('@graphiql/toolkit').Fetcher}
 */
export function createFetcher(transport) {
  return (parameters, options = {}) => {
    const operation = options.documentAST && getOperationAST(options.documentAST, parameters.operationName);
    if (operation?.operation !== 'subscription') {
      return overHTTP(parameters, options);
    }
    return transport() === 'websocket' ? overSocket(parameters, options) : overEvents(parameters, options);
  };
}
