import { type DoctorFinding, doctorChecks } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { checkTitles, groupFindings, resultText } from '../src/pages/doctor/finding-groups.ts'
import { findCommands } from '../src/shell/find-commands.ts'

const finding = (state: DoctorFinding['state'], check: DoctorFinding['check'] = 'server'): DoctorFinding => ({
  check,
  state,
  message: 'so',
})

describe('the findings of the doctor', () => {
  it('are grouped by level, worst first, each in the order of the checks', () => {
    const mixed = [finding('ok'), finding('problem', 'clock'), finding('unknown'), finding('note'), finding('problem', 'redis')]
    const groups = groupFindings(mixed).map(({ look, findings }) => [look.word, findings.map(({ check }) => check)])
    expect(groups).toEqual([
      ['Problems', ['clock', 'redis']],
      ['Notes', ['server']],
      ['Not looked at', ['server']],
      ['In order', ['server']],
    ])
  })

  it('have no group for a level without findings', () => {
    expect(groupFindings([finding('ok')]).map(({ state }) => state)).toEqual(['ok'])
    expect(groupFindings([])).toEqual([])
  })

  it('have a look of their own at each level', () => {
    const looks = groupFindings([finding('ok'), finding('note'), finding('problem'), finding('unknown')]).map(({ look }) => look)
    expect(new Set(looks.map(({ word }) => word)).size).toBe(4)
    expect(new Set(looks.map(({ glyph }) => glyph)).size).toBe(4)
  })

  it.each<[string, readonly DoctorFinding['state'][]]>([
    ['No problems', ['ok', 'ok']],
    ['No problems, 1 note', ['ok', 'note']],
    ['1 problem', ['problem', 'ok']],
    ['2 problems, 2 notes; 1 check was not possible', ['problem', 'note', 'unknown', 'problem', 'note']],
    ['No problems; 2 checks were not possible', ['unknown', 'unknown']],
  ])('are summed up as %s', (text, states) => {
    expect(resultText(states.map((state) => finding(state)))).toBe(text)
  })

  it('have a different title for each check', () => {
    expect(new Set(Object.values(checkTitles)).size).toBe(doctorChecks.length)
  })

  it('are found by the command palette', () => {
    expect(findCommands('doctor', [])).toMatchObject([{ place: { view: 'doctor' } }])
  })
})
