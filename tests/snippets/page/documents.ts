// Documents of this test. They are next to the files of the code blocks, so that the code generator reads them too.
import { graphql } from './gql'

export const Chat = graphql(`subscription Chat($topic: EntityID!, $from: Timestamp) {
  topicMessages(topic: $topic, from: $from) { id sequenceNumber consensusTimestamp }
}`)
export const Named = graphql(`query Named($account: AccountRef!) { account(id: $account) { id memo } }`)
export const New = graphql(`subscription New($from: Timestamp) { transactions(from: $from) { id consensusTimestamp } }`)
