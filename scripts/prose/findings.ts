import { ParseEnglish } from 'parse-english'
import { blockEnd, textsOf, type Prose } from './texts.ts'
import { exceptions, headlessStart, skipped, wordRules } from './words.ts'

/** One place to word otherwise. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly rule: 'word' | 'sentence' | 'subject' | 'message'
  /** The word, or the first words of the sentence. */
  readonly found: string
  readonly advice: string
}

/** Longest sentence, in words. */
export const MAX_WORDS = 30

const anyWord = new RegExp(wordRules.map((rule) => rule.pattern.source).join('|'), 'i')
const english = new ParseEnglish()

/** @returns the findings of a file by line; none for files that `skipped` lists and for superseded decision records */
export function findingsIn(file: string, source: string): readonly Finding[] {
  if (skipped.some(([path]) => file.startsWith(path)) || isSuperseded(file, source)) return []
  const { prose, changingMessages } = textsOf(file, source)
  const lineOf = lineCounter(source)
  const found = prose.flatMap((text) => [...wordsIn(file, text), ...sentencesIn(text, source)])
  const messages = changingMessages.filter((call) => file.includes('/src/') && !isExcepted(file, call.source))
  return [
    ...found.map(({ start, ...finding }) => ({ file, line: lineOf(start), ...finding })),
    ...messages.map(({ start, source: text }) => ({
      file,
      line: lineOf(start),
      rule: 'message' as const,
      found: text.replace(/\s+/g, ' ').slice(0, 60),
      advice: 'a constant message; put values in fields',
    })),
  ].toSorted((a, b) => a.line - b.line)
}

type Found = Omit<Finding, 'file' | 'line'> & { readonly start: number }

function wordsIn(file: string, { start, text }: Prose): readonly Found[] {
  if (!anyWord.test(text)) return []
  const found = wordRules.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)]
      .filter((match) => !isExcepted(file, around(text, match)))
      .map((match) => ({ rule: 'word' as const, start: start + match.index, found: match[0].replace(/\s+/g, ' '), advice })),
  )
  // Earlier rules are more exact.
  return found.filter((one, index) => !found.slice(0, index).some((other) => overlaps(one, other)))
}

function overlaps(one: Found, other: Found): boolean {
  return one.start < other.start + other.found.length && other.start < one.start + one.found.length
}

function around(text: string, { index, 0: word }: RegExpExecArray): string {
  return text.slice(Math.max(0, index - 20), index + word.length + 20).replace(/\s+/g, ' ')
}

function isExcepted(file: string, text: string): boolean {
  return exceptions.some(({ path, pattern }) => file.startsWith(path) && pattern.test(text))
}

function sentencesIn({ start, text }: Prose, source: string): readonly Found[] {
  return blocksOf(text).flatMap((block) => {
    if (!/\b(?:Who|What|Whom|He|Those|Of)\b/.test(block.text) && block.text.split(/\s+/).length <= MAX_WORDS) return []
    return sentencesOf(block.text).flatMap((sentence) => faultsOf(sentence, start + block.start, source))
  })
}

interface Sentence {
  readonly start: number
  readonly text: string
  readonly words: number
}

function faultsOf({ start, text, words }: Sentence, from: number, source: string): readonly Found[] {
  const asWritten = source.slice(from + start, from + start + text.length).replace(/\n\s*(?:\*|\/\/|#)?/g, ' ')
  const opening = asWritten.replace(/\*\/$/, '').trim().split(/\s+/).slice(0, 6).join(' ')
  const long = {
    rule: 'sentence' as const,
    start: from + start,
    found: `${opening}… (${words} words)`,
    advice: `one idea a sentence, at most ${MAX_WORDS} words`,
  }
  const headless = {
    rule: 'subject' as const,
    start: from + start,
    found: opening,
    advice: 'begin with a noun or a verb, not with a clause as the subject',
  }
  return [...(words > MAX_WORDS ? [long] : []), ...(headlessStart.test(text) && !text.endsWith('?') ? [headless] : [])]
}

/** The tokenizer joins a sentence to the next one that starts in lower case, as with the name of a program. */
const blockEnds = new RegExp(`${blockEnd}|\\n[ \\t]*\\n|(?<=[a-zX)][.?!])(?<!\\b(?:e\\.g|i\\.e|etc|vs|cf)\\.)\\s+(?=[a-z])`, 'g')

function blocksOf(text: string): readonly { readonly start: number; readonly text: string }[] {
  const blocks: { start: number; text: string }[] = []
  let start = 0
  for (const match of text.matchAll(blockEnds)) {
    blocks.push({ start, text: text.slice(start, match.index) })
    start = match.index + match[0].length
  }
  blocks.push({ start, text: text.slice(start) })
  return blocks.filter((block) => /\w\s+\w/.test(block.text))
}

function sentencesOf(block: string): readonly Sentence[] {
  const paragraphs = english.parse(block).children.flatMap((node) => (node.type === 'ParagraphNode' ? node.children : []))
  return paragraphs.flatMap((node) => {
    if (node.type !== 'SentenceNode') return []
    const [from, to] = [node.position?.start.offset ?? 0, node.position?.end.offset ?? 0]
    return [{ start: from, text: block.slice(from, to), words: node.children.filter((child) => child.type === 'WordNode').length }]
  })
}

function isSuperseded(file: string, source: string): boolean {
  return file.startsWith('docs/contribute/adr/') && /^- Status: superseded/m.test(source)
}

function lineCounter(source: string): (offset: number) => number {
  let line = 1
  let at = 0
  return (offset) => {
    if (offset < at) [line, at] = [1, 0]
    for (; at < offset; at++) if (source.charCodeAt(at) === 10) line++
    return line
  }
}
