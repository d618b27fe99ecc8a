/** The used fields of an expression node, as the library parses it. */
export interface CelNode {
  /** `id`, `.`, `call`, `rcall`, `comprehension`, `==` … */
  readonly op: string
  readonly args: unknown
  readonly meta: {
    /** Expansion of a macro. */
    readonly alternate?: CelNode
    readonly macro?: Readonly<Record<string, unknown>>
    readonly evaluate: (evaluator: unknown, node: CelNode, context: unknown) => unknown
  }
  setMeta(name: 'evaluate', evaluate: CelNode['meta']['evaluate']): CelNode
}

/** Maximum number of steps of one evaluation, unless the caller sets a lower limit. */
export const MOST_STEPS = 1_000_000

let stepsLeft = 0
const charged = new Set<string>()

/** Evaluates an expression within a step limit. */
export function withStepLimit<T>(run: () => T, mostSteps: number): T {
  stepsLeft = mostSteps
  charged.clear()
  return run()
}

/** @returns whether the last evaluation was stopped because it exceeded its step limit */
export function wasTooCostly(): boolean {
  return stepsLeft < 0
}

/** @throws {Error} if the evaluation has exceeded its step limit */
export function takeSteps(count: number): void {
  stepsLeft -= count
  if (stepsLeft < 0) throw new Error('operation cancelled: actual cost limit exceeded')
}

/** @returns whether the text is new in this evaluation: its preparation is charged once per evaluation, regardless of caches */
export function isFirstUse(text: string): boolean {
  if (charged.has(text)) return false
  charged.add(text)
  return true
}

/** A loop of the library. */
interface Loop {
  readonly step: CelNode
  /** Whether a searching loop continues. */
  condition?: (found: unknown) => boolean
}

/**
 * Makes every loop of an expression count its steps. Call it once, after the type check.
 *
 * `all` and `exists` continue after an item that is an error. When the steps are used up they must stop, because each item, and each loop
 * around them, would cost another error. Their result is not used then, see {@link wasTooCostly}.
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

/** Calls `visit` for every node, with macros replaced by their expansion. */
export function visitNodes(value: unknown, visit: (node: CelNode) => void): void {
  if (Array.isArray(value)) for (const item of value) visitNodes(item, visit)
  if (!isNode(value)) return
  const node = value.meta.alternate ?? value
  visit(node)
  for (const child of childrenOf(node)) visitNodes(child, visit)
}

/** @returns the child values of a node, some of which are nodes or lists of nodes */
export function childrenOf(node: CelNode): readonly unknown[] {
  if (node.meta.macro !== undefined) {
    // A macro keeps its call beside its expansion.
    const { ast: _call, ...parts } = node.meta.macro
    return Object.values(parts).filter((part) => isNode(part) || Array.isArray(part))
  }
  if (node.op === 'comprehension') {
    const { iterable, step } = node.args as Readonly<Record<string, unknown>>
    return [iterable, step]
  }
  return Array.isArray(node.args) ? node.args : [node.args]
}

/** @returns whether the value is an expression node */
export function isNode(value: unknown): value is CelNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'setMeta' in value
}
