import { EvaluationError } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { type CelNode, isFirstUse, takeSteps, visitNodes } from './bounded-steps.ts'

/** A regular expression in the syntax of RE2, as Kubernetes reads them. */
export interface Pattern {
  /** @returns whether the pattern occurs anywhere in the text, in time that grows with the text's length and no faster */
  test(text: string): boolean
  /** @returns what the pattern matches in the text, first to last, none overlapping another */
  findAll(text: string): readonly string[]
  /** What it is made of: each character of a text may be compared with each part. */
  readonly parts: number
}

/** Parts and characters of all patterns that are kept compiled; a part takes some hundred bytes. */
const LARGEST_CACHE = 50_000
const patterns = new Map<string, Pattern>()
let cacheSize = 0

/**
 * Compiles a pattern, or takes the one compiled before.
 *
 * @throws {Error} for text that is no pattern
 */
export function compilePattern(source: string): Pattern {
  let pattern = patterns.get(source)
  if (pattern === undefined) {
    pattern = patternOf(RE2JS.compile(source))
    keep(source, pattern)
  }
  return pattern
}

function keep(source: string, pattern: Pattern): void {
  const size = source.length + pattern.parts
  if (size > LARGEST_CACHE) return
  if (cacheSize + size > LARGEST_CACHE) {
    patterns.clear()
    cacheSize = 0
  }
  patterns.set(source, pattern)
  cacheSize += size
}

function patternOf(compiled: RE2JS): Pattern {
  return {
    parts: compiled.programSize(),
    test: (text) => compiled.test(text),
    findAll: (text) => Array.from(compiled.matchAll(text), ([match]) => match),
  }
}

type Handle = (values: readonly unknown[], evaluator: unknown, node: unknown) => unknown

/** Makes `matches` read its pattern as RE2: the library's own may take for ever. To be called once, after the types have been checked. */
export function boundPatterns(root: CelNode): void {
  visitNodes(root, (node) => {
    if (node.op !== 'rcall' || !Array.isArray(node.args) || node.args[0] !== 'matches') return
    const call = node as unknown as { handle: Handle }
    const { handle } = call
    call.handle = (values, evaluator, self) => {
      const [text, source] = values
      return typeof text === 'string' && typeof source === 'string' ? matchesIn(text, source) : handle(values, evaluator, self)
    }
  })
}

function matchesIn(text: string, source: string): boolean {
  return evaluationPattern(source).test(text)
}

/** Parts of a pattern that are compared while a loop takes a step. */
const PARTS_PER_STEP = 8

/** Steps for compiling a pattern, beside those for its characters and parts. */
const STEPS_TO_COMPILE = 1_000
/** Steps for each character and each part of a pattern that is compiled. */
const STEPS_PER_PART = 10
/** The longest pattern in an expression, in characters. */
const LONGEST_PATTERN = 1_000

/**
 * The pattern, which takes steps of the evaluation: once by its own size, for compiling it, and by the length of each text.
 *
 * @throws {EvaluationError} where an expression names a pattern that is none
 */
export function evaluationPattern(source: string): Pick<Pattern, 'test' | 'findAll'> {
  const isFirst = isFirstUse(source)
  if (source.length > LONGEST_PATTERN)
    throw new EvaluationError(`Illegal regex: the pattern has ${source.length} characters; use at most ${LONGEST_PATTERN}`)
  if (isFirst) takeSteps(STEPS_TO_COMPILE + source.length * STEPS_PER_PART)
  const pattern = patternNamed(source)
  if (isFirst) takeSteps(pattern.parts * STEPS_PER_PART)
  const take = (text: string): void => takeSteps((text.length * pattern.parts) / PARTS_PER_STEP)
  return {
    test(text) {
      take(text)
      return pattern.test(text)
    },
    findAll(text) {
      take(text)
      return pattern.findAll(text)
    },
  }
}

function patternNamed(source: string): Pattern {
  try {
    return compilePattern(source)
  } catch {
    throw new EvaluationError(`Illegal regex: ${source}`)
  }
}
