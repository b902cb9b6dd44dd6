package stablehlo

import (
	"fmt"
	"strings"
)

// A signature is what an operation of VHLO consists of.
type signature struct {
	operands, results, regions arity
	attrs                      []string // in the order of the alphabet, as properties have them
}

// An arity is how many there must be: exactly fixed ones, or those and any number
// of groups of some size.
type arity struct{ fixed, group int }

func exactly(n int) arity  { return arity{n, 0} }
func atLeast(n int) arity  { return arity{n, 1} }
func andPairs(n int) arity { return arity{n, 2} }

func (a arity) allows(n int) bool {
	if a.group == 0 {
		return n == a.fixed
	}
	return n >= a.fixed && (n-a.fixed)%a.group == 0
}

func (a arity) String() string {
	return fmt.Sprintf([...]string{"%d", "%d or more", "%d and pairs of"}[a.group], a.fixed)
}

func fields(names string) []string { return strings.Fields(names) }

// signatures are VHLO's operations of all versions, by their names.
var signatures = map[string]signature{
	"abs_v1":                      {exactly(1), exactly(1), exactly(0), nil},
	"add_v1":                      {exactly(2), exactly(1), exactly(0), nil},
	"after_all_v1":                {atLeast(0), exactly(1), exactly(0), nil},
	"all_gather_v1":               {exactly(1), exactly(1), exactly(0), fields("all_gather_dim channel_id replica_groups use_global_device_ids")},
	"all_gather_v2":               {atLeast(0), atLeast(0), exactly(0), fields("all_gather_dim channel_id replica_groups use_global_device_ids")},
	"all_reduce_v1":               {exactly(1), exactly(1), exactly(1), fields("channel_id replica_groups use_global_device_ids")},
	"all_reduce_v2":               {atLeast(0), atLeast(0), exactly(1), fields("channel_id replica_groups use_global_device_ids")},
	"all_to_all_v1":               {exactly(1), exactly(1), exactly(0), fields("channel_id concat_dimension replica_groups split_count split_dimension")},
	"all_to_all_v2":               {atLeast(0), atLeast(0), exactly(0), fields("channel_id concat_dimension replica_groups split_count split_dimension")},
	"and_v1":                      {exactly(2), exactly(1), exactly(0), nil},
	"async_done_v1":               {exactly(1), exactly(1), exactly(0), nil},
	"async_start_v1":              {atLeast(0), exactly(1), exactly(1), nil},
	"atan2_v1":                    {exactly(2), exactly(1), exactly(0), nil},
	"batch_norm_grad_v1":          {exactly(5), exactly(3), exactly(0), fields("epsilon feature_index")},
	"batch_norm_inference_v1":     {exactly(5), exactly(1), exactly(0), fields("epsilon feature_index")},
	"batch_norm_training_v1":      {exactly(3), exactly(3), exactly(0), fields("epsilon feature_index")},
	"bitcast_convert_v1":          {exactly(1), exactly(1), exactly(0), nil},
	"broadcast_in_dim_v1":         {exactly(1), exactly(1), exactly(0), fields("broadcast_dimensions")},
	"broadcast_v1":                {exactly(1), exactly(1), exactly(0), fields("broadcast_sizes")},
	"call_v1":                     {atLeast(0), atLeast(0), exactly(0), fields("callee")},
	"case_v1":                     {exactly(1), atLeast(0), atLeast(0), nil},
	"cbrt_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"cbrt_v2":                     {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"ceil_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"cholesky_v1":                 {exactly(1), exactly(1), exactly(0), fields("lower")},
	"clamp_v1":                    {exactly(3), exactly(1), exactly(0), nil},
	"collective_broadcast_v1":     {exactly(1), exactly(1), exactly(0), fields("channel_id replica_groups")},
	"collective_broadcast_v2":     {atLeast(0), atLeast(0), exactly(0), fields("channel_id has_dynamic_root replica_groups")},
	"collective_permute_v1":       {exactly(1), exactly(1), exactly(0), fields("channel_id source_target_pairs")},
	"collective_reduce_v1":        {atLeast(0), atLeast(0), exactly(1), fields("channel_id has_dynamic_root replica_groups use_global_device_ids")},
	"compare_v1":                  {exactly(2), exactly(1), exactly(0), fields("compare_type comparison_direction")},
	"complex_v1":                  {exactly(2), exactly(1), exactly(0), nil},
	"composite_v1":                {atLeast(0), atLeast(0), exactly(0), fields("composite_attributes decomposition name version")},
	"composite_v2":                {atLeast(0), atLeast(0), atLeast(0), fields("composite_attributes decomposition name version")},
	"concatenate_v1":              {atLeast(0), exactly(1), exactly(0), fields("dimension")},
	"constant_v1":                 {exactly(0), exactly(1), exactly(0), fields("value")},
	"convert_v1":                  {exactly(1), exactly(1), exactly(0), nil},
	"convolution_v1":              {exactly(2), exactly(1), exactly(0), fields("batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides")},
	"cosine_v1":                   {exactly(1), exactly(1), exactly(0), nil},
	"cosine_v2":                   {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"count_leading_zeros_v1":      {exactly(1), exactly(1), exactly(0), nil},
	"create_token_v1":             {exactly(0), exactly(1), exactly(0), nil},
	"cross-replica-sum_v1":        {exactly(1), exactly(1), exactly(0), fields("replica_groups")},
	"custom_call_v1":              {atLeast(0), atLeast(0), exactly(0), fields("api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts")},
	"custom_call_v2":              {atLeast(0), atLeast(0), exactly(0), fields("api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts result_tilings")},
	"divide_v1":                   {exactly(2), exactly(1), exactly(0), nil},
	"dot_general_v1":              {exactly(2), exactly(1), exactly(0), fields("lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions rhs_contracting_dimensions")},
	"dot_general_v2":              {exactly(2), exactly(1), exactly(0), fields("accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type")},
	"dot_v1":                      {exactly(2), exactly(1), exactly(0), fields("precision_config")},
	"dynamic_broadcast_in_dim_v1": {exactly(2), exactly(1), exactly(0), fields("broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions")},
	"dynamic_conv_v1":             {exactly(3), exactly(1), exactly(0), fields("batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides")},
	"dynamic_conv_v2":             {exactly(3), exactly(1), exactly(0), fields("batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides")},
	"dynamic_gather_v1":           {exactly(3), exactly(1), exactly(0), fields("collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map")},
	"dynamic_gather_v2":           {exactly(3), exactly(1), exactly(0), fields("collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims start_index_map start_indices_batching_dims")},
	"dynamic_iota_v1":             {exactly(1), exactly(1), exactly(0), fields("iota_dimension")},
	"dynamic_pad_v1":              {exactly(5), exactly(1), exactly(0), nil},
	"dynamic_reshape_v1":          {exactly(2), exactly(1), exactly(0), nil},
	"dynamic_slice_v1":            {atLeast(1), exactly(1), exactly(0), fields("slice_sizes")},
	"dynamic_update_slice_v1":     {atLeast(2), exactly(1), exactly(0), nil},
	"einsum_v1":                   {exactly(2), exactly(1), exactly(0), fields("einsum_config")},
	"exponential_minus_one_v1":    {exactly(1), exactly(1), exactly(0), nil},
	"exponential_minus_one_v2":    {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"exponential_v1":              {exactly(1), exactly(1), exactly(0), nil},
	"exponential_v2":              {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"fft_v1":                      {exactly(1), exactly(1), exactly(0), fields("fft_length fft_type")},
	"floor_v1":                    {exactly(1), exactly(1), exactly(0), nil},
	"func_v1":                     {exactly(0), exactly(0), exactly(1), fields("arg_attrs function_type res_attrs sym_name sym_visibility")},
	"gather_v1":                   {exactly(2), exactly(1), exactly(0), fields("collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map")},
	"gather_v2":                   {exactly(2), exactly(1), exactly(0), fields("collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes start_index_map start_indices_batching_dims")},
	"get_dimension_size_v1":       {exactly(1), exactly(1), exactly(0), fields("dimension")},
	"get_tuple_element_v1":        {exactly(1), exactly(1), exactly(0), fields("index")},
	"if_v1":                       {exactly(1), atLeast(0), exactly(2), nil},
	"imag_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"infeed_v1":                   {exactly(1), atLeast(0), exactly(0), fields("infeed_config layout")},
	"iota_v1":                     {exactly(0), exactly(1), exactly(0), fields("iota_dimension")},
	"is_finite_v1":                {exactly(1), exactly(1), exactly(0), nil},
	"log_plus_one_v1":             {exactly(1), exactly(1), exactly(0), nil},
	"log_plus_one_v2":             {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"log_v1":                      {exactly(1), exactly(1), exactly(0), nil},
	"log_v2":                      {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"logistic_v1":                 {exactly(1), exactly(1), exactly(0), nil},
	"logistic_v2":                 {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"map_v1":                      {atLeast(0), exactly(1), exactly(1), fields("dimensions")},
	"maximum_v1":                  {exactly(2), exactly(1), exactly(0), nil},
	"minimum_v1":                  {exactly(2), exactly(1), exactly(0), nil},
	"multiply_v1":                 {exactly(2), exactly(1), exactly(0), nil},
	"negate_v1":                   {exactly(1), exactly(1), exactly(0), nil},
	"not_v1":                      {exactly(1), exactly(1), exactly(0), nil},
	"optimization_barrier_v1":     {atLeast(0), atLeast(0), exactly(0), nil},
	"or_v1":                       {exactly(2), exactly(1), exactly(0), nil},
	"outfeed_v1":                  {atLeast(1), exactly(1), exactly(0), fields("outfeed_config")},
	"pad_v1":                      {exactly(2), exactly(1), exactly(0), fields("edge_padding_high edge_padding_low interior_padding")},
	"partition_id_v1":             {exactly(0), exactly(1), exactly(0), nil},
	"popcnt_v1":                   {exactly(1), exactly(1), exactly(0), nil},
	"power_v1":                    {exactly(2), exactly(1), exactly(0), nil},
	"real_dynamic_slice_v1":       {exactly(4), exactly(1), exactly(0), nil},
	"real_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"recv_v1":                     {exactly(1), atLeast(0), exactly(0), fields("channel_id channel_type is_host_transfer")},
	"recv_v2":                     {exactly(1), atLeast(0), exactly(0), fields("channel_id channel_type is_host_transfer source_target_pairs")},
	"reduce_precision_v1":         {exactly(1), exactly(1), exactly(0), fields("exponent_bits mantissa_bits")},
	"reduce_scatter_v1":           {exactly(1), exactly(1), exactly(1), fields("channel_id replica_groups scatter_dimension use_global_device_ids")},
	"reduce_v1":                   {andPairs(0), atLeast(0), exactly(1), fields("dimensions")},
	"reduce_window_v1":            {andPairs(0), atLeast(0), exactly(1), fields("base_dilations padding window_dilations window_dimensions window_strides")},
	"remainder_v1":                {exactly(2), exactly(1), exactly(0), nil},
	"replica_id_v1":               {exactly(0), exactly(1), exactly(0), nil},
	"reshape_v1":                  {exactly(1), exactly(1), exactly(0), nil},
	"return_v1":                   {atLeast(0), exactly(0), exactly(0), nil},
	"reverse_v1":                  {exactly(1), exactly(1), exactly(0), fields("dimensions")},
	"rng_bit_generator_v1":        {exactly(1), exactly(2), exactly(0), fields("rng_algorithm")},
	"rng_v1":                      {exactly(3), exactly(1), exactly(0), fields("rng_distribution")},
	"round_nearest_afz_v1":        {exactly(1), exactly(1), exactly(0), nil},
	"round_nearest_even_v1":       {exactly(1), exactly(1), exactly(0), nil},
	"rsqrt_v1":                    {exactly(1), exactly(1), exactly(0), nil},
	"rsqrt_v2":                    {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"scatter_v1":                  {andPairs(1), atLeast(0), exactly(1), fields("index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices update_window_dims")},
	"scatter_v2":                  {andPairs(1), atLeast(0), exactly(1), fields("index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices update_window_dims")},
	"select_and_scatter_v1":       {exactly(3), exactly(1), exactly(2), fields("padding window_dimensions window_strides")},
	"select_v1":                   {exactly(3), exactly(1), exactly(0), nil},
	"send_v1":                     {atLeast(1), exactly(1), exactly(0), fields("channel_id channel_type is_host_transfer")},
	"send_v2":                     {atLeast(1), exactly(1), exactly(0), fields("channel_id channel_type is_host_transfer source_target_pairs")},
	"set_dimension_size_v1":       {exactly(2), exactly(1), exactly(0), fields("dimension")},
	"shift_left_v1":               {exactly(2), exactly(1), exactly(0), nil},
	"shift_right_arithmetic_v1":   {exactly(2), exactly(1), exactly(0), nil},
	"shift_right_logical_v1":      {exactly(2), exactly(1), exactly(0), nil},
	"sign_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"sine_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"sine_v2":                     {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"slice_v1":                    {exactly(1), exactly(1), exactly(0), fields("limit_indices start_indices strides")},
	"sort_v1":                     {atLeast(0), atLeast(0), exactly(1), fields("dimension is_stable")},
	"sqrt_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"sqrt_v2":                     {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"subtract_v1":                 {exactly(2), exactly(1), exactly(0), nil},
	"tan_v1":                      {exactly(1), exactly(1), exactly(0), nil},
	"tan_v2":                      {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"tanh_v1":                     {exactly(1), exactly(1), exactly(0), nil},
	"tanh_v2":                     {exactly(1), exactly(1), exactly(0), fields("result_accuracy")},
	"torch_index_select_v1":       {exactly(2), exactly(1), exactly(0), fields("batch_dims dim")},
	"transpose_v1":                {exactly(1), exactly(1), exactly(0), fields("permutation")},
	"triangular_solve_v1":         {exactly(2), exactly(1), exactly(0), fields("left_side lower transpose_a unit_diagonal")},
	"tuple_v1":                    {atLeast(0), exactly(1), exactly(0), nil},
	"unary_einsum_v1":             {exactly(1), exactly(1), exactly(0), fields("einsum_config")},
	"uniform_dequantize_v1":       {exactly(1), exactly(1), exactly(0), nil},
	"uniform_quantize_v1":         {exactly(1), exactly(1), exactly(0), nil},
	"while_v1":                    {atLeast(0), atLeast(0), exactly(2), nil},
	"xor_v1":                      {exactly(2), exactly(1), exactly(0), nil},
}
