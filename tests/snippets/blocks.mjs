// Reads the code blocks of documents. The line that opens a block has its kind:
//
//   console, console no-run: REASON    commands with their output, which tests/docs runs
//   sh                                 commands, which run in the folder of the files
//   LANGUAGE FILE                      a complete file, such as "ts src/client.ts"
//   LANGUAGE no-run: REASON            a block that is neither checked nor run
//   graphql, json variables            in the cookbook: a document, and its variables
//   json                               in the cookbook: the answer, which TestCookbook compares
import { readFileSync } from 'node:fs'

/** @typedef {{ at: string, language: string, file?: string, reason?: string, variables?: boolean, body: string }} Block */

/** @returns {{ blocks: Block[], problems: string[] }} */
export function read(root, document) {
  const text = readFileSync(`${root}/${document}`, 'utf8')
  const blocks = []
  const problems = []
  const lineOf = (index) => `${document}:${text.slice(0, index).split('\n').length}`
  const fence = /^```(.*)\n([^]*?)^```$/gm
  for (const { index, 1: info, 2: body } of text.matchAll(fence)) {
    const [, language, rest = ''] = /^(\S*)(?: (.+))?$/.exec(info) ?? []
    const [, reason] = /^no-run: (\S.+)$/.exec(rest) ?? []
    const block = { at: lineOf(index), language, body, reason, variables: rest === 'variables' }
    if (!reason && !block.variables && rest) block.file = rest
    if (!kinds.some((kind) => kind.test(`${language} ${reason ? 'no-run' : block.file ? 'FILE' : rest} ${document}`)))
      problems.push(`${block.at}: "${info}" is none of the kinds of code blocks in tests/snippets/blocks.mjs`)
    blocks.push(block)
  }
  // Outside of lists, four spaces begin a block without a kind.
  for (const { index } of text.replace(fence, (block) => block.replace(/\S/g, '.').replace(/^ +/gm, '.')).matchAll(/\n\n {4}\S/g))
    problems.push(`${lineOf(index + 2)}: an indented code block has no kind: use a fence`)
  return { blocks, problems }
}

const kinds = [/^console (no-run)? /, /^sh  /, /^\S+ (FILE|no-run) /, /^(graphql |json |json variables) ?docs\/cookbook\.md$/]
