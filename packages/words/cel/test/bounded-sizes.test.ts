import { createCelEnvironment } from '@tranche/cel'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

const environment = createCelEnvironment({ result: { kind: 'dyn' } })

function evaluate(expression: string, result: unknown): unknown {
  const compiled = environment.compile(expression)
  if (!compiled.ok) throw new Error(compiled.error)
  return compiled.program.evaluate({ result })
}

const numbers = Array.from({ length: 20_000 }, (_, index) => index)
const longText = 'a'.repeat(500_000)
const stopped = { ok: false, error: 'operation cancelled: actual cost limit exceeded', isTooCostly: true }

describe('any expression over an answer of 1 MB ends quickly', () => {
  const cases: readonly [string, string, unknown][] = [
    ['a search of the answer for each item of it', 'result.items.all(item, !(-1 in result.items))', { items: numbers }],
    ['a copy of the answer for each item of it', 'result.items.all(item, size(result.items + result.items) > 0)', { items: numbers }],
    [
      'lists that are alike, compared for each item',
      'result.items.all(item, result.a == result.b)',
      { items: numbers, a: numbers, b: [...numbers] },
    ],
    [
      'lists within lists, compared for each item',
      'result.items.all(item, result.a == result.b)',
      { items: numbers, a: [[numbers]], b: [[[...numbers]]] },
    ],
    ['sets of thousands', 'sets.contains(result.items, result.items)', { items: numbers }],
    ['a text that is built for each item', 'result.items.all(item, result.text.reverse() != "")', { items: numbers, text: longText }],
    ['a text that grows tenfold each time', `"aaaaaaaaaa"${'.replace("a", "aaaaaaaaaa")'.repeat(8)} == ""`, null],
    ['a text that is inserted into itself', 'result.replace("a", result) == ""', longText],
    ['a text that grows with every quotation of itself', 'result.replace("a", "$`") == ""', longText],
    ['a pattern of many parts', 'result.matches("(a{1,30}){1,30}b$")', longText],
    ['patterns that are built in a loop', 'result.items.all(item, !"".matches("(a{1,30}){1,30}b" + string(item)))', { items: numbers }],
    [
      'all that a pattern finds, for each item',
      'result.items.all(item, result.text.findAll("a").size() > 0)',
      { items: numbers, text: longText },
    ],
  ]
  it.each(cases)('%s', (_name, expression, result) => {
    expect(evaluate(expression, result)).toEqual(expression.includes('"$`"') ? { ok: true, value: false } : stopped)
  })
})

it('nested loops end at the step limit, although all and exists continue after other errors', () => {
  const items = Array.from({ length: 500_000 }, () => 1)
  const nested = Array.from({ length: 8 }).reduce<string>((inner, _, level) => `result.exists(a${level}, ${inner})`, 'false')
  const began = cpuMs()
  expect(evaluate(nested, items)).toEqual(stopped)
  // 25 s if each item of each loop makes its own error.
  expect(cpuMs() - began).toBeLessThan(2_000)
})

it('an expression that exceeds the step limit has no value, whatever surrounds the expensive part', () => {
  const costly = 'result.all(a, result.all(b, a == a))'
  expect(evaluate(`${costly} || true`, numbers)).toEqual(stopped)
  expect(evaluate(`result.exists(x, ${costly} || x == 0)`, numbers)).toEqual(stopped)
})

describe('typical conditions are within the limits', () => {
  const cases: readonly [string, string, unknown][] = [
    ['every item of a large answer', 'result.items.all(item, item >= 0)', { items: numbers }],
    ['a search of a large answer', '19999 in result.items', { items: numbers }],
    ['its size, for each item', 'result.items.all(item, item < size(result.items))', { items: numbers }],
    ['a comparison of large answers', 'result.a == result.b', { a: numbers, b: [...numbers] }],
    [
      'a pattern over a text',
      'result.items.all(item, item.matches("^node-[0-9]+$"))',
      { items: numbers.slice(0, 2_000).map((n) => `node-${n}`) },
    ],
    ['a dollar is a dollar', 'result.replace("b", "$&$&") == "a$&$&"', 'ab'],
  ]
  it.each(cases)('%s', (_name, expression, result) => expect(evaluate(expression, result)).toEqual({ ok: true, value: true }))
})
