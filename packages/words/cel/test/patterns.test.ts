import { compilePattern, createCelEnvironment } from '@tranche/cel'
import { describe, expect, it } from 'vitest'

/** A backtracking engine never ends on it. */
const bomb = '^(a+)+$'
const target = `${'a'.repeat(10_000)}!`

describe('a pattern', () => {
  it('takes linear time for any pattern', () => {
    expect(compilePattern(bomb).test(target)).toBe(false)
  })

  it('uses the syntax of Kubernetes', () => {
    expect(compilePattern('(?i)^AGENT$').test('agent')).toBe(true)
    expect(() => compilePattern('(?=a)')).toThrow(/\(\?=/)
  })
})

describe('an expression with a pattern', () => {
  const environment = createCelEnvironment({ self: { kind: 'string' }, any: { kind: 'dyn' } })

  it.each([
    `self.matches('${bomb}')`,
    `any.matches('${bomb}')`,
    `[self].exists(one, one.matches('${bomb}'))`,
    `self.find('${bomb}') != ''`,
    `self.findAll('${bomb}').size() > 0`,
  ])('takes linear time: %s', (expression) => {
    expect(evaluate(expression)).toEqual({ ok: true, value: false })
  })

  it('fails if the pattern is invalid, unless the other operand decides', () => {
    expect(evaluate("self.matches('(')")).toEqual({ ok: false, error: 'Illegal regex: (' })
    expect(evaluate("self.matches('(') || true")).toEqual({ ok: true, value: true })
  })

  it('names the length of a pattern that is too long, and the limit', () => {
    const error = 'Illegal regex: the pattern has 1001 characters; use at most 1000'
    expect(evaluate(`self.matches('${'a'.repeat(1001)}')`)).toEqual({ ok: false, error })
  })

  function evaluate(expression: string): object {
    const compiled = environment.compile(expression)
    return compiled.ok ? compiled.program.evaluate({ self: target, any: target }) : compiled
  }
})
