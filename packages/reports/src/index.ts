export type { ReleaseFacts } from './release-facts.ts'
