import { type CelType, createCelEnvironment, estimatedCost } from '@tranche/cel'
import { describe, expect, it } from 'vitest'

const int: CelType = { kind: 'int' }
const text: CelType = { kind: 'string' }
const item: CelType = { kind: 'object', fields: { name: text, n: int } }
const self: CelType = {
  kind: 'object',
  fields: {
    a: int,
    b: text,
    half: { kind: 'double' },
    on: { kind: 'bool' },
    items: { kind: 'list', of: item },
    names: { kind: 'list', of: text },
    labels: { kind: 'map', of: text },
    'x-y': int,
    namespace: text,
    size: { kind: 'dyn' },
    at: { kind: 'timestamp' },
    wait: { kind: 'duration' },
    limit: text,
  },
}
const value = {
  a: 3,
  b: 'agent',
  half: 0.5,
  on: true,
  items: [
    { name: 'x', n: 1 },
    { name: 'y', n: 2 },
  ],
  names: ['p', 'q'],
  labels: { app: 'agent' },
  'x-y': 7,
  namespace: 'demo',
  size: '10%',
  at: '2026-01-01T00:00:00Z',
  wait: '1h30m',
  limit: '500Mi',
}
const environment = createCelEnvironment({ self, oldSelf: { kind: 'optional', of: self } })

function evaluate(expression: string): unknown {
  const compiled = environment.compile(expression)
  if (!compiled.ok) return compiled.error
  const result = compiled.program.evaluate({ self: value, oldSelf: undefined })
  return result.ok ? result.value : `ERROR ${result.error}`
}

describe('true of a value are', () => {
  const expressions = [
    'self.a == 3 && self.half < 1 && self.on',
    "self.b.startsWith('ag') && self.b.matches('^[a-z]+$')",
    'self.items.all(i, i.n > 0) && self.items.exists_one(i, i.name == "x")',
    "self.labels.all(k, self.labels[k].size() > 2) && 'app' in self.labels",
    "self.names.map(n, n + '!') == ['p!', 'q!'] && self.items.filter(i, i.n > 1).size() == 1",
    '!has(self.labels.other) && has(self.labels.app)',
    "self.?labels['other'].orValue('none') == 'none'",
    'self.x__dash__y == 7 && self.__namespace__ == "demo"',
    "self.size.endsWith('%')",
    'type(self.size) == string ? true : self.size > 1',
    "self.at < timestamp('2027-01-01T00:00:00Z') && self.wait > duration('1h')",
    "quantity(self.limit).isLessThan(quantity('1Gi')) && quantity('1.5k').asInteger() == 1500",
    "quantity('1Gi').sub(quantity('1Mi')).compareTo(quantity('1023Mi')) == 0 && !isQuantity('10 Mi')",
    'self.items == self.items && self.items[0] != self.items[1]',
    '[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [1, 2].isSorted() && self.names.indexOf("q") == 1',
    "sets.contains(self.names, ['p']) && !sets.intersects(self.names, ['z'])",
    "'%s has %d of %.1f'.format([self.b, self.a, self.half]) == 'agent has 3 of 0.5'",
    "'a-b'.replace('-', '+') == 'a+b' && 'abc'.charAt(1) == 'b' && 'x12y3'.findAll('[0-9]+') == ['12', '3']",
    "url('https://x.example:80/p?q=1').getPort() == '80' && isURL('/p') && !isURL('x')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && ip('::1').family() == 6 && !isIP('300.1.1.1')",
    "!format.dns1123Label().validate('agent').hasValue() && format.named('dns1123Label').value().validate('A').hasValue()",
    'oldSelf.hasValue() == false && oldSelf.optMap(o, o.a).orValue(0) == 0',
    'cel.bind(n, self.a * 2, n == 6)',
    "self.a > 5 || self.labels.all(k, k != 'z')",
  ]
  it.each(expressions)('%s', (expression) => expect(evaluate(expression)).toBe(true))
})

describe('a compile error has its place and cause', () => {
  const cases: Record<string, string> = {
    'self.nope > 1': "undefined field 'nope'",
    'self.a > self.b': "found no matching overload for '_>_' applied to '(int, string)'",
    'nope(self.a)': "undeclared reference to 'nope' (in container '')",
    'other == 1': "undeclared reference to 'other' (in container '')",
    'self.a >': 'Syntax error: ',
    'self.a.startsWith("x")': "found no matching overload for 'startsWith' applied to 'int.(string)'",
    "self.items.all(i, i.nope == 'x')": "undefined field 'nope'",
  }
  it.each(Object.entries(cases))('%s', (expression, says) => {
    expect(evaluate(expression)).toMatch(/^compilation failed: ERROR: <input>:1:\d+: /)
    expect(evaluate(expression)).toContain(says)
    expect(evaluate(expression)).toContain(`\n | ${expression}\n | `)
  })
})

describe('an evaluation error', () => {
  const cases: Record<string, string> = {
    "self.labels['z'] == 'a'": 'no such key: z',
    'self.names[7] == "a"': 'index out of bounds: 7',
    "quantity('x').isInteger()": 'quantities must match the regular expression',
  }
  it.each(Object.entries(cases))('%s', (expression, says) => expect(evaluate(expression)).toContain(`ERROR ${says}`))

  it('ends a loop that takes too long', () => {
    const big = Array.from({ length: 1200 }, (_, index) => String(index))
    const compiled = environment.compile('self.names.all(x, self.names.exists(y, y == "none") || true)')
    if (!compiled.ok) throw new Error(compiled.error)
    const result = compiled.program.evaluate({ self: { names: big }, oldSelf: undefined })
    expect(result).toEqual({ ok: false, error: 'operation cancelled: actual cost limit exceeded', isTooCostly: true })
  })
})

it('an expression knows its variables and its type', () => {
  const compiled = environment.compile('self.a + 1')
  expect(compiled).toMatchObject({ ok: true, program: { type: 'int' } })
  if (compiled.ok) expect([compiled.program.uses('self'), compiled.program.uses('oldSelf')]).toEqual([true, false])
})

it('the cost estimate grows with the sizes of the types: nested loops multiply', () => {
  const bounded: CelType = { kind: 'list', of: { kind: 'string', maxSize: 10 }, maxSize: 10 }
  const scope = { self: bounded }
  const cost = (expression: string): number => {
    const compiled = createCelEnvironment(scope).compile(expression)
    if (!compiled.ok) throw new Error(compiled.error)
    return estimatedCost(compiled.program.root, scope)
  }
  expect(cost('self.all(x, x != "a")')).toBeLessThan(200)
  expect(cost('self.all(x, self.all(y, x != y))')).toBeGreaterThan(300)
  expect(cost('self.all(x, self.all(y, x != y))')).toBeLessThan(2000)
})
