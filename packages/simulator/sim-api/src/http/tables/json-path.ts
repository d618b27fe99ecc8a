import { isObject } from '../../model/json.ts'

/**
 * Parses the JSONPath of a printer column. Supports names (`.spec.size`, `['a.b']`, `\.` for a dot inside a name), indexes (`[0]`, `[-1]`),
 * `[*]` and `.*`, and equality filters (`[?(@.type=="Ready")]`).
 *
 * @returns function that finds every value at the path; a path outside this subset finds nothing
 */
export function compileJsonPath(path: string): (root: unknown) => readonly unknown[] {
  const steps = parseSteps(path.replace(/^\{(.*)\}$/, '$1').replace(/^\$/, ''))
  if (steps === undefined) return () => []
  return (root) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap((value) => follow(step, value)), [root])
}

type Step =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly string[]; readonly equal: boolean; readonly value: string }

const stepPattern =
  /\.?\*|\[\*\]|\[(-?\d+)\]|\[['"]([^'"]*)['"]\]|\[\?\(\s*@\.([\w.-]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([^\s)]+))\s*\)\]|\.?((?:\\.|[^.[\]\\*])+)/y

function parseSteps(path: string): readonly Step[] | undefined {
  const steps: Step[] = []
  for (let at = 0; at < path.length; at = stepPattern.lastIndex) {
    stepPattern.lastIndex = at
    const match = stepPattern.exec(path)
    if (match === null) return undefined
    steps.push(toStep(match))
  }
  return steps
}

function toStep(match: RegExpExecArray): Step {
  const [, index, quoted, filterPath, operator, double, single, bare, name] = match
  if (index !== undefined) return { kind: 'index', index: Number(index) }
  if (quoted !== undefined) return { kind: 'name', name: quoted }
  if (filterPath !== undefined)
    return { kind: 'filter', path: filterPath.split('.'), equal: operator === '==', value: double ?? single ?? bare ?? '' }
  return name === undefined ? { kind: 'all' } : { kind: 'name', name: name.replace(/\\(.)/g, '$1') }
}

function follow(step: Step, value: unknown): readonly unknown[] {
  switch (step.kind) {
    case 'name':
      return isObject(value) && value[step.name] !== undefined && value[step.name] !== null ? [value[step.name]] : []
    case 'index':
      return Array.isArray(value) && value.at(step.index) !== undefined ? [value.at(step.index)] : []
    case 'all':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => (fieldText(item, step.path) === step.value) === step.equal) : []
  }
}

function fieldText(item: unknown, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), item)
  return value === undefined ? undefined : String(value)
}
