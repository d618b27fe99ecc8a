import { fillTemplate, templateArguments, templateLeavings } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'

describe('a template', () => {
  it('is filled with its arguments, with or without spaces around the name', () =>
    expect(fillTemplate('{{a}} of {{ b }}{{a}}', { a: '1', b: '2' })).toBe('1 of 21'))

  it('keeps a name without an argument, even the name of a built-in object member', () =>
    expect(fillTemplate('{{c}} {{constructor}}', { a: '1' })).toBe('{{c}} {{constructor}}'))

  it('does not expand substituted text', () => expect(fillTemplate('{{a}} {{b}}', { a: '{{b}} $& $1', b: '2' })).toBe('{{b}} $& $1 2'))

  it('encodes substituted text', () => expect(fillTemplate('/{{a}}/{{a}}?b', { a: 'x/?' }, encodeURIComponent)).toBe('/x%2F%3F/x%2F%3F?b'))

  it('lists each name once', () => expect(templateArguments('{{b}} {{ a }} {{b}} {{1}} {c}')).toEqual(['b', 'a']))

  it.each([
    ['text {a} and }', []],
    ['{{a}}', []],
    ['{{a b}} {{a', ['{{a b', '}}', '{{a']],
    ['{{1}}', ['{{1', '}}']],
  ])('lists the invalid braces of %j', (template, leavings) => expect(templateLeavings(template)).toEqual(leavings))
})
