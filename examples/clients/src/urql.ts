// A client of urql with the normalized cache Graphcache. Types without an ID are generated from the schema.
import { Client, fetchExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { keys } from '../generated/urql.ts'

export const client = (url: string) =>
  new Client({
    url,
    preferGetMethod: false,
    exchanges: [cacheExchange({ keys, resolvers: { Account: { transfers: relayPagination() } } }), fetchExchange],
  })
