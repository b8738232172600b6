// The arguments that name a brand and its models.
export const brandArgument = { name: 'brand', summary: 'The account id of the brand.' } as const;

export const modelArgument = {
  name: 'model',
  summary: "The model, as 'larder model list' shows it.",
} as const;
