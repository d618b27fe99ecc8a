import { fillTemplate, templateArguments, templateLeavings } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'

describe('a template', () => {
  it('takes its arguments, with or without blanks around the name', () =>
    expect(fillTemplate('{{a}} of {{ b }}{{a}}', { a: '1', b: '2' })).toBe('1 of 21'))

  it('leaves a name that it has no argument for, also one that every object has', () =>
    expect(fillTemplate('{{c}} {{constructor}}', { a: '1' })).toBe('{{c}} {{constructor}}'))

  it('looks at nothing that was put in', () => expect(fillTemplate('{{a}} {{b}}', { a: '{{b}} $& $1', b: '2' })).toBe('{{b}} $& $1 2'))

  it('encodes what it puts in', () => expect(fillTemplate('/{{a}}/{{a}}?b', { a: 'x/?' }, encodeURIComponent)).toBe('/x%2F%3F/x%2F%3F?b'))

  it('says what it names, each once', () => expect(templateArguments('{{b}} {{ a }} {{b}} {{1}} {c}')).toEqual(['b', 'a']))

  it.each([
    ['text {a} and }', []],
    ['{{a}}', []],
    ['{{a b}} {{a', ['{{a b', '}}', '{{a']],
    ['{{1}}', ['{{1', '}}']],
  ])('says of %j what is neither text nor a name', (template, leavings) => expect(templateLeavings(template)).toEqual(leavings))
})
