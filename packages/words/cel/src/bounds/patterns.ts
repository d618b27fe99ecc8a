import { EvaluationError } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { type CelNode, isFirstUse, takeSteps, visitNodes } from './bounded-steps.ts'

/** A regular expression in RE2 syntax, as in Kubernetes. */
export interface Pattern {
  /** @returns whether the pattern occurs anywhere in the text, in linear time */
  test(text: string): boolean
  /** @returns all non-overlapping matches in the text, in order */
  findAll(text: string): readonly string[]
  /** Number of parts: each character of a text may be compared with each part. */
  readonly parts: number
}

/** Maximum number of parts and characters of all cached patterns; a part takes a few hundred bytes. */
const LARGEST_CACHE = 50_000
const patterns = new Map<string, Pattern>()
let cacheSize = 0

/**
 * Compiles a pattern, or returns it from the cache.
 *
 * @throws {Error} for an invalid pattern
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

/** Makes `matches` use RE2, because the library's own matching may never end. Call it once, after the type check. */
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

/** Number of pattern parts that are compared per step. */
const PARTS_PER_STEP = 8

/** Base cost of compiling a pattern, in steps. */
const STEPS_TO_COMPILE = 1_000
/** Cost of each character and each part of a compiled pattern, in steps. */
const STEPS_PER_PART = 10
/** Maximum length of a pattern in an expression, in characters. */
const LONGEST_PATTERN = 1_000

/**
 * Compiles a pattern and charges steps to the evaluation: once by the size of the pattern, and for each text by its length.
 *
 * @throws {EvaluationError} for an invalid pattern
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
