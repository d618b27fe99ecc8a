import { describe, expect, it } from 'vitest'
import { layers } from './layers.ts'
import { filesOf, type SourceFile } from './source-tree.ts'

const everyone = layers.flatMap((layer) => layer.packages)

/** A call of a logger: what follows the opening bracket. */
const call = /\blog(?:\[[^\]]+\]|\.(?:debug|info|warn|error))\(/g

describe('log lines', () => {
  it.each(everyone)('of %s have constant text as their message', (name) => {
    const changing = filesOf(name, 'src').flatMap((file) =>
      messagesOf(file)
        .filter((message) => !/^('[^']*'|[^?`]+\? '[^']*' : '[^']*')$/.test(message))
        .map((message) => `${file.path}: ${message}`),
    )
    expect(changing).toEqual([])
  })

  it('are found where they are written', () => {
    expect(everyone.flatMap((name) => filesOf(name, 'src')).flatMap(messagesOf).length).toBeGreaterThan(60)
  })
})

/** @returns the last argument of each call of a logger, as it is written */
function messagesOf({ code }: SourceFile): readonly string[] {
  return [...code.matchAll(call)].flatMap((match) => {
    const args = argumentsFrom(code, match.index + match[0].length)
    return args.length < 2 ? [] : [args.at(-1)!]
  })
}

/** @returns the arguments of the call whose opening bracket stands before `start` */
function argumentsFrom(code: string, start: number): readonly string[] {
  const args = ['']
  for (let depth = 0, at = start, quote = ''; at < code.length; at++) {
    const letter = code[at]!
    if (quote !== '') quote = letter === quote ? '' : quote
    else if (`'"\``.includes(letter)) quote = letter
    else if ('([{'.includes(letter)) depth++
    else if (')]}'.includes(letter) && depth-- === 0) break
    else if (letter === ',' && depth === 0) {
      args.push('')
      continue
    }
    args.push(args.pop()! + letter)
  }
  return args.map((arg) => arg.trim()).filter((arg) => arg !== '')
}
