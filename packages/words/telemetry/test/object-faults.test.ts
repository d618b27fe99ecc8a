import { createObjectFaults, type Logger, silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'

function broken(): never {
  throw new Error('it has no spec')
}

function setUp() {
  const lines: unknown[] = []
  const log: Logger = { ...silentLogger, error: (fields, message) => void lines.push({ ...fields, message }) }
  return { lines, faults: createObjectFaults((fields) => log.error(fields, 'left out an object')) }
}

it('a faulty object is logged once, with its cause', () => {
  const { lines, faults } = setUp()
  expect([1, 2, 3].map(() => faults.attempt('demo/a', broken))).toEqual([undefined, undefined, undefined])
  expect(lines).toEqual([{ message: 'left out an object', object: 'demo/a', err: new Error('it has no spec') }])
})

it('another cause, another object, and a fault after a good state are logged again', () => {
  const { lines, faults } = setUp()
  faults.report('demo/a', new Error('one'))
  faults.report('demo/a', new Error('two'))
  faults.report('demo/b', new Error('two'))
  expect(faults.attempt('demo/a', () => 7)).toBe(7)
  faults.report('demo/a', new Error('two'))
  faults.clear('demo/b')
  faults.report('demo/b', new Error('two'))
  expect(lines).toHaveLength(5)
})

it('a bounded number of objects is remembered', () => {
  const { lines, faults } = setUp()
  for (let at = 0; at <= 1_000; at++) faults.report(`demo/${at}`, new Error('one'))
  faults.report('demo/1000', new Error('one'))
  expect(lines).toHaveLength(1_001)
  faults.report('demo/0', new Error('one'))
  expect(lines).toHaveLength(1_002)
})
