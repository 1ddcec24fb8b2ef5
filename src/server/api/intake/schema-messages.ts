export interface SchemaToExamine {
  readonly digest: string;
  readonly text: string;
  readonly path: string;
  /** True: keywords without a grammar are left out; false: they are refused. */
  readonly relax: boolean;
}

/** A keyword that the grammar leaves to the check of the finished answer, or takes more narrowly than the schema. */
export interface LeftOut {
  readonly pointer: string;
  readonly keyword: string;
  readonly narrowed?: true;
}

export type ThreadRequest =
  | { readonly id: number; readonly kind: 'examine'; readonly schemas: readonly SchemaToExamine[] }
  | {
      readonly id: number;
      readonly kind: 'check';
      readonly digest: string;
      readonly text: string | null;
      readonly value: string;
    };

export type ThreadReply = { readonly id: number } & (
  | { readonly kind: 'examined'; readonly leftOut: readonly (readonly LeftOut[])[] }
  | { readonly kind: 'checked'; readonly problem: string | null }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly detail: { readonly message: string; readonly param?: string } }
);
