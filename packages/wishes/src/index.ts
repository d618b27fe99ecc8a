export type { Wish } from './wish.ts'
