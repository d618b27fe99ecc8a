/** A node of an expression as the library parses it: what we read of it. */
export interface CelNode {
  /** `id`, `.`, `call`, `rcall`, `comprehension`, `==` … */
  readonly op: string
  readonly args: unknown
  readonly meta: {
    /** What a macro has become. */
    readonly alternate?: CelNode
    readonly macro?: Readonly<Record<string, unknown>>
    readonly evaluate: (evaluator: unknown, node: CelNode, context: unknown) => unknown
  }
  setMeta(name: 'evaluate', evaluate: CelNode['meta']['evaluate']): CelNode
}

/** Most steps of one evaluation, unless the caller allows fewer. */
export const MOST_STEPS = 1_000_000

let stepsLeft = 0
const charged = new Set<string>()

/** Evaluates, and stops what loops for too long. */
export function withStepLimit<T>(run: () => T, mostSteps: number): T {
  stepsLeft = mostSteps
  charged.clear()
  return run()
}

/** @returns whether the last evaluation was stopped because it took more steps than it may */
export function wasTooCostly(): boolean {
  return stepsLeft < 0
}

/** @throws {Error} where an evaluation has taken more steps than it may */
export function takeSteps(count: number): void {
  stepsLeft -= count
  if (stepsLeft < 0) throw new Error('operation cancelled: actual cost limit exceeded')
}

/** @returns whether this evaluation has not met the text before: what is prepared once for it is charged once, whatever caches hold */
export function isFirstUse(text: string): boolean {
  if (charged.has(text)) return false
  charged.add(text)
  return true
}

/** A loop as the library keeps it. */
interface Loop {
  readonly step: CelNode
  /** Whether a loop that looks for something goes on. */
  condition?: (found: unknown) => boolean
}

/**
 * Makes every loop of an expression count its steps. To be called once, after the types have been checked.
 *
 * `all` and `exists` go on after an item that is an error. Where the steps are used up they must not: each item, and each loop around them,
 * would cost another error. Their result is of no account then, see {@link wasTooCostly}.
 */
export function boundSteps(root: CelNode): void {
  visitNodes(root, (node) => {
    if (node.op !== 'comprehension') return
    const loop = node.args as Loop
    const { step, condition } = loop
    if (condition !== undefined) loop.condition = (found) => !wasTooCostly() && condition(found)
    const { evaluate } = step.meta
    step.setMeta('evaluate', (evaluator, self, context) => {
      takeSteps(1)
      return evaluate(evaluator, self, context)
    })
  })
}

/** Calls `visit` for every node, a macro standing for what it has become. */
export function visitNodes(value: unknown, visit: (node: CelNode) => void): void {
  if (Array.isArray(value)) for (const item of value) visitNodes(item, visit)
  if (!isNode(value)) return
  const node = value.meta.alternate ?? value
  visit(node)
  for (const child of childrenOf(node)) visitNodes(child, visit)
}

/** @returns the values below a node, some of which are nodes or lists of them */
export function childrenOf(node: CelNode): readonly unknown[] {
  if (node.meta.macro !== undefined) {
    // A macro keeps its call beside the parts of it.
    const { ast: _call, ...parts } = node.meta.macro
    return Object.values(parts).filter((part) => isNode(part) || Array.isArray(part))
  }
  if (node.op === 'comprehension') {
    const { iterable, step } = node.args as Readonly<Record<string, unknown>>
    return [iterable, step]
  }
  return Array.isArray(node.args) ? node.args : [node.args]
}

/** @returns whether the value is a node of an expression */
export function isNode(value: unknown): value is CelNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'setMeta' in value
}
