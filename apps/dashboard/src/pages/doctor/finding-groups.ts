import type { DoctorCheck, DoctorFinding } from '@tranche/api-schema'
import { countText } from '../../format/duration.ts'
import type { StateLook } from '../../format/outcome-text.ts'

/** Findings of one level. */
export interface FindingGroup {
  readonly state: DoctorFinding['state']
  /** Its word is the heading. */
  readonly look: StateLook
  readonly findings: readonly DoctorFinding[]
}

/** Levels with their looks, worst first. */
const looks: Readonly<Record<DoctorFinding['state'], StateLook>> = {
  problem: { word: 'Problems', glyph: '✕', tone: 'bad' },
  note: { word: 'Notes', glyph: '!', tone: 'wait' },
  unknown: { word: 'Not looked at', glyph: '?', tone: 'quiet' },
  ok: { word: 'In order', glyph: '✓', tone: 'good' },
}

/** Headings of the checks. */
export const checkTitles: Readonly<Record<DoctorCheck, string>> = {
  server: 'Kubernetes version',
  resources: 'Resource definitions',
  rights: 'Your rights',
  accounts: 'Service accounts',
  controller: 'Controller',
  left: 'Left behind',
  policies: 'Release policies',
  config: 'Config',
  clock: 'Clocks',
  openkruise: 'OpenKruise',
  admission: 'Admission',
  webhook: 'Webhook certificate',
  executor: 'Executors',
  versions: 'Versions',
  redis: 'Redis',
}

/** Groups findings by level, worst first; each level keeps their order. */
export function groupFindings(findings: readonly DoctorFinding[]): readonly FindingGroup[] {
  return (Object.keys(looks) as DoctorFinding['state'][]).flatMap((state) => {
    const those = findings.filter((one) => one.state === state)
    return those.length === 0 ? [] : [{ state, look: looks[state], findings: those }]
  })
}

/** @returns the result in one sentence without a stop: `2 problems, 1 note; 3 checks were not possible` */
export function resultText(findings: readonly DoctorFinding[]): string {
  const count = (state: DoctorFinding['state']): number => findings.filter((one) => one.state === state).length
  const [problems, notes, unknown] = [count('problem'), count('note'), count('unknown')]
  const found = problems === 0 ? 'No problems' : countText(problems, 'problem')
  const more = notes === 0 ? '' : `, ${countText(notes, 'note')}`
  return `${found}${more}${unknown === 0 ? '' : `; ${countText(unknown, 'check')} ${unknown === 1 ? 'was' : 'were'} not possible`}`
}
